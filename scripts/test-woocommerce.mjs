// `npm run test:woocommerce [part of a name]` runs the scenarios of the plugin for WooCommerce on a stub. With
// WOOCOMMERCE_DIR, the directory of WooCommerce in an installed WordPress, it runs them on the real thing.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('../packages/woocommerce/test/run.php', import.meta.url));
const { error, status } = spawnSync('php', [runner, ...process.argv.slice(2)], { stdio: 'inherit' });
if (error !== undefined) console.error('The scenarios need PHP: apt-get install php-cli');
process.exitCode = error === undefined ? (status ?? 1) : 1;
