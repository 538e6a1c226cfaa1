'use strict';
// Preloaded into npm where the machine's Node is older than Platen's. npm leaves out optional packages whose `engines` is not
// this Node: the linter's and the tests' native parts, which run on Platen's own. There is no option for it (npm 7 to 11).
Object.defineProperty(process, 'version', { value: process.env.PLATEN_AS_NODE });
