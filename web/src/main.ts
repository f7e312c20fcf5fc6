// SPDX-License-Identifier: Apache-2.0
//
// A page with embedded data is a report; a page without is the live page of its server.

import { LivePage } from "./live";
import type { Report } from "./model";
import { showReport } from "./report";

const page = document.getElementById("page")!;
const data = document.getElementById("data");
if (data) {
  showReport(page, JSON.parse(data.textContent!) as Report);
} else {
  new LivePage(page);
}
document.documentElement.dataset.ready = "true";
