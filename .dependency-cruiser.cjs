// Floors (docs: ARCHITECTURE.md). Each imports its own floor and lower ones; everything else of ours is an error.
// The pages of src/web are on two floors: what they share is below the pages themselves.
const FLOORS = [
  ['^src/cli/'],
  ['^src/servers/'],
  ['^src/api/', '^src/web/(checkout|dashboard|docs)/', '^src/worker/'],
  ['^src/web/(page|ui)/'],
  ['^src/services/'],
  ['^src/temporal/'],
  ['^workflows/'],
  ['^activities/'],
  ['^src/http/', '^src/webhooks/', '^src/providers/', '^src/qris/'],
  ['^src/snap/'],
  ['^src/crypto/'],
  ['^src/db/'],
  ['^src/observability/'],
  ['^src/lib/', '^src/domain/', '^src/(config|errors|package-info)\\.ts$'],
];

/** Each of them uses what is below it. Only src/servers composes them, so none of them imports another. */
const DOORS = ['^src/api/', '^src/web/', '^src/worker/'];

/** Rules that are narrower than the floors. */
const ROOMS = {
  // Deterministic. Of the activities they take only the types.
  '^workflows/': ['^workflows/', '^src/domain/', '^activities/index\\.ts$'],
  '^src/domain/': ['^src/domain/'],
  '^src/qris/': ['^src/qris/'],
  // The transport of SNAP BI knows neither payments nor payouts, and no table.
  '^src/snap/': ['^src/(snap|lib|observability)/', '^src/domain/provider-call\\.ts$', '^src/errors\\.ts$'],
  // Pages render what they are given. Those of the dashboard call operations and services, too.
  '^src/web/(page|ui|checkout|docs)/.*\\.tsx$': ['^src/(web|domain|lib|qris)/'],
  '^src/web/dashboard/.*\\.tsx$': ['^src/(web|services|http|domain|lib|qris)/', '^src/errors\\.ts$'],
  // Side effects and use cases do not know HTTP.
  '^(activities|src/services)/': ['^(workflows|activities)/', '^src/(?!http/)'],
  // Processes of their own, outside of the service.
  '^src/sandbox/': ['^src/(sandbox|qris|lib|observability)/', '^src/(config|errors|package-info)\\.ts$'],
  '^src/local-stack/': ['^src/(local-stack|qris|lib|observability)/', '^src/(config|errors|package-info)\\.ts$'],
};

/**
 * A door writes no audit row: `run` of an operation does, and what a user does with their own login records itself.
 * An export records itself around its stream of rows. The list may only get shorter.
 */
const RECORDING_DOORS = ['^src/web/dashboard/export-recorded\\.ts$'];

/** Doors that take only types of the audit log: the parser of this tool does not see the difference. */
const TYPED_DOORS = [
  '^src/cli/run-operation\\.ts$',
  '^src/web/dashboard/(form-pages|user-identity)\\.ts$',
  '^src/web/dashboard/activity/recorded-action\\.ts$',
];

const OURS = '^(workflows|activities|src)/';
const OUTSIDE = ['^src/(sandbox|local-stack)/'];
const anyOf = (patterns) => patterns.join('|');

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
    {
      name: 'known-directory',
      comment: 'Each file of src has a floor: a new directory needs a row above.',
      severity: 'error',
      from: { path: '^src/', pathNot: anyOf([...FLOORS.flat(), ...OUTSIDE]) },
      to: {},
    },
    ...FLOORS.map((floor, index) => ({
      name: `no import of a higher floor: ${anyOf(floor)}`,
      severity: 'error',
      from: { path: anyOf(floor) },
      to: {
        path: anyOf([...FLOORS.slice(0, index).flat(), ...(index === 0 ? [] : OUTSIDE)]),
      },
    })).filter(({ to }) => to.path !== ''),
    ...DOORS.map((door) => ({
      name: `no import of another door: ${door}`,
      severity: 'error',
      from: { path: door },
      to: { path: anyOf(DOORS.filter((other) => other !== door)) },
    })),
    {
      name: 'commands-use-no-page',
      comment: 'A command starts a process by src/servers, and does its own work by src/services.',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: ['^src/api/', '^src/web/'] },
    },
    {
      name: 'doors-write-no-audit-row',
      comment: 'A use case of a person is an operation (src/services/operations); reading the logs is free.',
      severity: 'error',
      from: { path: anyOf(['^src/cli/', ...DOORS]), pathNot: anyOf([...RECORDING_DOORS, ...TYPED_DOORS]) },
      to: { path: '^src/services/audit/(audit|user-audit|execute-recorded|request-approval)\\.ts$' },
    },
    ...Object.entries(ROOMS).map(([from, allowed]) => ({
      name: `only ${anyOf(allowed)}`,
      severity: 'error',
      from: { path: from },
      to: { path: OURS, pathNot: anyOf(allowed) },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
