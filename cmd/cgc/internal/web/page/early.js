// This script is not a module, so that it can explain why a page opened from a file cannot start.
if (location.protocol === "file:") {
  document.getElementById("no-server").hidden = false;
}
