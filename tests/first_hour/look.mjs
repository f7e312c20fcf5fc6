// SPDX-License-Identifier: Apache-2.0
//
// Opens reports as a person would, on a desk and on a telephone, light and dark. test_first_hour.py
// runs it; HYPERMILE_SCREENSHOTS names a folder for the pictures of the documentation.
import assert from "node:assert/strict";
import { browser, openPage, picture, widerThanThePage } from "../web/world.mjs";

// The names of the kept and the best setting that lie over one another.
function crowdedLabels(page) {
  return page.evaluate(() => {
    const named = [...document.querySelectorAll("svg text")].filter((each) => /^(kept|true best): /.test(each.textContent));
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return named
      .filter((each, i) => named.slice(i + 1).some((other) => over(each.getBoundingClientRect(), other.getBoundingClientRect())))
      .map((each) => each.textContent);
  });
}

const chrome = await browser();
for (const report of process.argv.slice(2)) {
  const name = report.split("/").pop().replace(".html", "");
  for (const width of [1280, 400]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await openPage(chrome, { offline: true, colorScheme, viewport: { width, height: 900 } });
      await page.goto(`file://${report}`);
      await page.waitForSelector("html[data-ready] article svg");
      assert.deepEqual(page.problems, []);
      assert.deepEqual(await widerThanThePage(page), [], `${name} at ${width} pixels`);
      const text = await page.innerText("main");
      assert.ok(text.includes("simulated, not measured on a GPU"), "the stand-in's run is shown as a measurement");
      assert.ok(text.includes("kWh"), "no kilowatt-hours");
      assert.deepEqual(await crowdedLabels(page), [], `${name} at ${width} pixels`);
      const broken = await page.$$eval(".kind", (all) => all.filter((each) => each.getClientRects().length > 1).length);
      assert.equal(broken, 0, `names of decisions are broken within a word at ${width} pixels`);
      await picture(page, `first-hour-${name}-${width}-${colorScheme}.png`);
      await page.context().close();
    }
  }
}
await chrome.close();
