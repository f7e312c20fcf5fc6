// SPDX-License-Identifier: Apache-2.0
//
// Opens reports as a person would, on a desk and on a telephone, light and dark. test_first_hour.py
// runs it; HYPERMILE_SCREENSHOTS names a folder for the pictures of the documentation.
import assert from "node:assert/strict";
import { browser, openPage, picture, widerThanThePage } from "../web/world.mjs";

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
      await picture(page, `first-hour-${name}-${width}-${colorScheme}.png`);
      await page.context().close();
    }
  }
}
await chrome.close();
