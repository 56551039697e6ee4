// Runs without modules, so that a page that cannot start says why.
if (location.protocol === "file:") {
  document.getElementById("no-server").hidden = false;
}
