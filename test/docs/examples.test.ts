import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import { GUIDES, readGuide } from '../../src/web/docs/guides';

describe('docs/webhooks.md', () => {
  it.each([
    ['examples/webhook-receiver-node/receiver.mjs', 'js'],
    ['examples/webhook-receiver-python/receiver.py', 'python'],
    ['examples/webhook-receiver-php/receiver.php', 'php'],
    ['examples/webhook-receiver-go/receiver.go', 'go'],
  ])('links to %s, and is served with its code', async (file, language) => {
    expect(readFileSync(path.join(PACKAGE_ROOT, 'docs', 'webhooks.md'), 'utf8')).toContain(
      `\n\n[${path.basename(file)}](../${file})\n\n`,
    );
    const guide = GUIDES.find(({ name }) => name === 'webhooks');
    const addresses = { publicBaseUrl: 'https://pay.example', sandboxUrl: null };
    const code = `\`\`\`${language}\n${readFileSync(path.join(PACKAGE_ROOT, file), 'utf8')}\`\`\``;
    expect(guide && (await readGuide(guide, addresses))).toContain(`\n\n${code}\n\n`);
  });
});
