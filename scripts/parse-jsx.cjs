// dependency-cruiser reads TypeScript by swc, without the option for JSX. Node.js loads this file before it
// (`npm run imports`).
const swc = require('@swc/core');

const { parseFileSync } = swc;
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') });
