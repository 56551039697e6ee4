// Shows the report of a condensation in its own frame, which must not load anything.
import { byId } from "./view.js";

/** Shows the report, given the bytes of its page. */
export function showReport(page) {
  byId("report-part").hidden = false;
  const text = new TextDecoder().decode(page);
  const frame = byId("report");
  const ready = (event) => {
    if (event.source !== frame.contentWindow || event.data !== "ready") return;
    removeEventListener("message", ready);
    frame.contentWindow.postMessage(text, "*"); // a sandboxed frame has no origin to name
  };
  addEventListener("message", ready);
  frame.src = "frame.html";
}
