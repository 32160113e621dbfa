// The convention of CONTRIBUTING.md: `type(scope): imperative subject`, then a body that gives the reason.
const TYPES = ['feat', 'fix', 'perf', 'refactor', 'test', 'docs', 'build', 'ci', 'chore'];
const SCOPES = [
  'api',
  'cli',
  'db',
  'domain',
  'workflows',
  'activities',
  'temporal',
  'providers',
  'midtrans',
  'webhooks',
  'operator', // of earlier commits
  'services',
  'http',
  'web',
  'worker',
  'snap',
  'sandbox',
  'local-stack',
  'qris',
  'bench',
  'sdk', // of earlier commits
  'deps',
];
const ERROR = 2;

const hasOneSubject = ({ subject }) => [
  !subject?.includes(';'),
  'the subject must not have a semicolon: make two commits',
];

module.exports = {
  plugins: [{ rules: { 'subject-without-semicolon': hasOneSubject } }],
  rules: {
    'header-max-length': [ERROR, 'always', 72],
    'type-empty': [ERROR, 'never'],
    'type-enum': [ERROR, 'always', TYPES],
    'scope-enum': [ERROR, 'always', SCOPES],
    'subject-empty': [ERROR, 'never'],
    'subject-case': [ERROR, 'never', ['sentence-case', 'start-case', 'pascal-case', 'upper-case']],
    'subject-full-stop': [ERROR, 'never', '.'],
    'subject-without-semicolon': [ERROR, 'always'],
    'body-leading-blank': [ERROR, 'always'],
    'body-max-line-length': [ERROR, 'always', 100],
  },
};
