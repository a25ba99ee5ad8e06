// What does the page of the API do? Its contents are open where there is room for them.

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
