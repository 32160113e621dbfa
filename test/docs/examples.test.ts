import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import { readSection, writeSection } from '../support/marked-section';

const PAGE = 'docs/webhooks.md';

describe('docs/webhooks.md', () => {
  it.each([
    ['examples/webhook-receiver-node/receiver.mjs', 'js'],
    ['examples/webhook-receiver-python/receiver.py', 'python'],
    ['examples/webhook-receiver-php/receiver.php', 'php'],
    ['examples/webhook-receiver-go/receiver.go', 'go'],
  ])('shows %s (UPDATE_EXAMPLES=1 copies it)', (file, language) => {
    const section = { page: PAGE, kind: 'example', name: file };
    const code = `\`\`\`${language}\n${readFileSync(path.join(PACKAGE_ROOT, file), 'utf8')}\`\`\``;
    if (process.env.UPDATE_EXAMPLES === '1') writeSection(section, code);
    expect(readSection(section)).toBe(code);
  });
});
