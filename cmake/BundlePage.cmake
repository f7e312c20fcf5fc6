# Called by WebPage.cmake: installs the page's npm packages where they differ from the lock file, bundles the page, and
# writes the C++ source. Never fails: without npm, the source holds an empty page.

set(without_page
  "// SPDX-License-Identifier: Apache-2.0\n#include \"record/page_asset.h\"\n\nconst std::string_view hypermile::kPageAsset = \"\";\n")

function(give_up why)
  message(WARNING "hypermile: built without its web page ('report' and 'serve' will say so): ${why}")
  file(WRITE ${OUTPUT} "${without_page}")
endfunction()

find_program(NPM npm)
if(NOT NPM)
  give_up("npm is not installed")
  return()
endif()

file(MAKE_DIRECTORY ${MODULES})
file(LOCK ${MODULES}/lock GUARD PROCESS TIMEOUT 300)
set(installed "")
if(EXISTS ${MODULES}/installed.json)
  file(READ ${MODULES}/installed.json installed)
endif()
file(READ ${WEB}/package-lock.json wanted)
if(NOT installed STREQUAL wanted)
  file(REMOVE ${MODULES}/installed.json)
  file(COPY ${WEB}/package.json ${WEB}/package-lock.json ${WEB}/.npmrc DESTINATION ${MODULES})
  execute_process(COMMAND ${NPM} ci --omit=dev --ignore-scripts WORKING_DIRECTORY ${MODULES}
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE problem TIMEOUT 240)
  if(failed)
    string(REGEX MATCH "npm ERR! [^\n]*|npm error [^\n]*" line "${problem}")
    give_up("'npm ci' failed: ${line}")
    return()
  endif()
  file(WRITE ${MODULES}/installed.json "${wanted}")
endif()

foreach(part main.ts style.css)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${MODULES}/node_modules
            ${MODULES}/node_modules/.bin/esbuild ${WEB}/src/${part} --bundle --minify
            --target=es2022 --legal-comments=none --log-level=warning
    RESULT_VARIABLE failed OUTPUT_VARIABLE bundled ERROR_VARIABLE problem)
  if(failed)
    give_up("bundling ${part} failed: ${problem}")
    return()
  endif()
  set(bundle_${part} "${bundled}")
endforeach()

file(READ ${WEB}/index.html page)
string(REPLACE "@PAGE_CSS@" "${bundle_style.css}" page "${page}")
string(REPLACE "@PAGE_JS@" "${bundle_main.ts}" page "${page}")
file(WRITE ${OUTPUT}
  "// SPDX-License-Identifier: Apache-2.0\n#include \"record/page_asset.h\"\n\nconst std::string_view hypermile::kPageAsset = R\"page(${page})page\";\n")
