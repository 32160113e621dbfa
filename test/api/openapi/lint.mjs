// Lints the OpenAPI document on standard input by redocly's recommended rules, and prints a line for each problem. A
// process of its own, because jest loads no ES modules.
import { text } from 'node:stream/consumers';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const config = await createConfig({ extends: ['recommended'] });
const problems = await lintFromString({ source: await text(process.stdin), config });
for (const { ruleId, message, location } of problems) console.log(ruleId, message, location[0]?.pointer);
