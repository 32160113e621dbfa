// What most layers may import of src itself.
const BASIC_FILES = [
  'abort-after',
  'config',
  'correlation',
  'errors',
  'logger',
  'master-keys',
  'package-info',
  'parse-json',
  'pooler',
  'sealing',
  'snake-case',
  'tracing',
];
const BASICS = `^src/(${BASIC_FILES.join('|')})\\.ts$`;

// Imports run downwards only (docs: ARCHITECTURE.md). Each layer lists what it may see; everything else of ours is an error.
const LAYERS = {
  '^workflows/': ['^workflows/', '^src/domain/'],
  '^activities/': ['^activities/', '^src/(webhooks|providers|db|domain|metrics)/', BASICS],
  '^src/domain/': ['^src/domain/'],
  '^src/metrics/': ['^src/(metrics|domain)/', '^src/(config|logger|package-info)\\.ts$'],
  '^src/qris/': ['^src/qris/'],
  '^src/keys/': ['^src/keys/', '^src/(config|errors)\\.ts$'],
  '^src/db/': ['^src/(db|domain|metrics)/', BASICS],
  // An adapter reads the QR that an acquirer issued before anybody is shown it.
  '^src/providers/': ['^src/(providers|qris|db|domain|metrics)/', BASICS],
  '^src/webhooks/': ['^src/(webhooks|db|domain|metrics)/', BASICS],
  '^src/temporal/': ['^workflows/', '^activities/', '^src/(temporal|webhooks|providers|db|domain|metrics)/', BASICS],
  '^src/operator/': ['^workflows/', '^src/(operator|keys|temporal|webhooks|providers|db|domain)/', BASICS],
  '^src/api/': [
    '^workflows/',
    '^src/(api|web|keys|operator|temporal|webhooks|providers|qris|db|domain|metrics)/',
    BASICS,
    '^src/graceful-shutdown\\.ts$',
  ],
  // Pages: they render what `src/api` has read.
  '^src/web/': ['^src/(web|qris|domain)/', '^src/package-info\\.ts$'],
  '^src/sandbox/': ['^src/(sandbox|qris)/', BASICS, '^src/graceful-shutdown\\.ts$'],
  '^src/local-stack/': ['^src/(local-stack|qris)/', BASICS],
};

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'workflows-only-temporal',
      comment: 'Workflow code is deterministic: no package but @temporalio/workflow and its common types.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: 'node_modules/@temporalio/(workflow|common)/' },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypes: ['npm', 'core'] },
    },
    {
      name: 'sdk-has-no-dependency',
      comment: 'The package @lunas/node is published: it imports its own files and the modules of Node.js.',
      severity: 'error',
      from: { path: '^packages/node/src/' },
      to: { pathNot: '^packages/node/src/', dependencyTypesNot: ['core'] },
    },
    // Workflows take only the types of activities: anything else would pull I/O into their bundle, whose build fails then.
    ...Object.entries(LAYERS).map(([from, allowed]) => ({
      name: `layer ${from}`,
      severity: 'error',
      from: { path: from },
      to: {
        path: '^(workflows|activities|src)/',
        pathNot: from === '^workflows/' ? [...allowed, '^activities/index\\.ts$'] : allowed,
      },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The parser does not read JSX: .oxlintrc.json has the rule for these files.
    exclude: { path: '\\.tsx$' },
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
