// Loaded into a child by `--require`: at its exit it writes which files the process has loaded, for a test.
'use strict';

const { writeFileSync } = require('node:fs');

process.on('exit', () => writeFileSync(process.env.MODULES_FILE, JSON.stringify(Object.keys(require.cache))));
