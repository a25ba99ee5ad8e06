// The page of the API: the table of contents is open on wide screens.

import { named } from "./dom.js";

const contents = named("contents"),
  wide = matchMedia("(min-width: 60.01rem)");
const fit = () => {
  contents.open = wide.matches;
};
wide.addEventListener("change", fit);
fit();
for (const link of contents.querySelectorAll("a"))
  link.addEventListener("click", () => {
    if (!wide.matches) contents.open = false;
  });
