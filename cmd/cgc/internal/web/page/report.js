// Shows the report of a condensation in its own frame, which must not load anything.
import { byId } from "./view.js";

/** Shows the report among the files of a result, or hides its part of the page if there is none. */
export function showReport(result) {
  const at = result.files.findIndex(({ name }) => name.endsWith(".html"));
  byId("report-part").hidden = at < 0;
  if (at < 0) return;
  const text = new TextDecoder().decode(result.contents[at]);
  const frame = byId("report");
  const ready = (event) => {
    if (event.source !== frame.contentWindow || event.data !== "ready") return;
    removeEventListener("message", ready);
    frame.contentWindow.postMessage(text, "*"); // a sandboxed frame has no origin to name
  };
  addEventListener("message", ready);
  frame.src = "frame.html";
}
