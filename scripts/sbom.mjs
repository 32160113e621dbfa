// `npm run sbom`: writes dist/sbom.cdx.json (CycloneDX) and dist/licences.txt for the packages of the image. It fails
// if one of them has a licence that is not permissive. npm reads package-lock.json and sends no request.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  // Of fonts: it binds only who sells or renames the font itself.
  'OFL-1.1',
  'Unlicense',
]);
/** Packages whose package.json names no licence: the licence in their LICENSE file. */
const LICENCE_FILES = new Map([
  ['png-js@2.0.0', 'MIT'],
  ['unionfs@4.6.0', 'Unlicense'],
]);

const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--omit', 'optional'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const packages = JSON.parse(sbom).components.map((component) => {
  const name = `${component.name}@${component.version}`;
  return { name, licence: licenceOf(component) ?? LICENCE_FILES.get(name) ?? 'none' };
});

mkdirSync('dist', { recursive: true });
writeFileSync(path.join('dist', 'sbom.cdx.json'), sbom);
writeFileSync(path.join('dist', 'licences.txt'), packages.map(({ name, licence }) => `${name}: ${licence}\n`).join(''));

const refused = packages.filter(({ licence }) => !PERMISSIVE.has(licence));
for (const { name, licence } of refused) console.error(`${name} has the licence ${licence}, which is not permissive.`);
if (refused.length > 0) process.exitCode = 1;
else console.log(`${packages.length} packages, all with permissive licences: dist/sbom.cdx.json, dist/licences.txt`);

function licenceOf({ licenses = [] }) {
  const [{ license, expression } = {}] = licenses;
  return license?.id ?? license?.name ?? expression;
}
