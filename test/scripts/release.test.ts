import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT, VERSION } from '../../src/package-info';
import { readDockerfile } from '../deploy/dockerfile';

it('the image has the version of the package, and the commit that its build names', () => {
  const [label = ''] = readDockerfile().flatMap(({ name, argument }) => (name === 'LABEL' ? [argument] : []));
  expect(label).toContain(`org.opencontainers.image.version=${VERSION} `);
  expect(label).toContain('org.opencontainers.image.revision=');
});

it('each action of a workflow is pinned to a commit', () => {
  const directory = path.join(PACKAGE_ROOT, '.github', 'workflows');
  const text = readdirSync(directory).map((name) => readFileSync(path.join(directory, name), 'utf8'));
  const actions = [...text.join('\n').matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action);
  expect(actions.length).toBeGreaterThan(0);
  expect(actions.filter((action) => !/^[\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});
