# Bundles web/ into one page and compiles it in: hypermile_web_page(OUTPUT) makes OUTPUT, a C++ source
# with the page as kPageAsset. Where npm or its registry cannot be reached the page is empty, everything
# else is built, and `hypermile report` says what is missing; the next configuration tries again.
function(hypermile_web_page output)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(script ${PROJECT_SOURCE_DIR}/cmake/BundlePage.cmake)
  file(GLOB sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.css)
  if(EXISTS ${output})
    file(STRINGS ${output} empty REGEX "kPageAsset = \"\"" LIMIT_COUNT 1)
    if(empty)
      file(REMOVE ${output})
    endif()
  endif()
  # All build trees share what npm installs.
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DWEB=${web} -DMODULES=${PROJECT_SOURCE_DIR}/build/web
            -DOUTPUT=${output} -P ${script}
    DEPENDS ${sources} ${web}/index.html ${web}/package.json ${web}/package-lock.json ${script}
    COMMENT "Bundling the web page" VERBATIM)
endfunction()
