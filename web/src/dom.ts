// SPDX-License-Identifier: Apache-2.0
//
// Creates elements in one expression. Text is inserted as text, so that nothing in a log can become
// markup.

type Child = Node | string | undefined | null | false;

export function element(tag: string, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  for (const child of children) if (child) made.append(child);
  return made;
}

export function table(head: string[], rows: (Node | string)[][], kind = ""): HTMLElement {
  return element(
    "table",
    { class: kind },
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))))),
  );
}
