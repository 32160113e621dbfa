import { ACTIVITIES, createActivities } from '../../activities';
import type { ActivityDependencies } from '../../activities/dependencies';
import { unchecked } from '../../activities/verify-terms';
import { createPool } from '../../src/db/connection/pool';
import { activityDependencies } from '../support/activity-dependencies';
import { FakeAcquirer } from '../workflows/model/fake-acquirer';

/** They have no terms of a payment, or compare them themselves. */
const UNCHECKED = [
  'beginDailyRun',
  'closeDays',
  'deleteExpired',
  'deliverWebhook',
  'endBankAccountInquiry',
  'failUnissuedPayment',
  'findBankStatus',
  'finishDailyRun',
  'inquireBankAccount',
  'openPayment',
  'pingWebhook',
  'planReconciliation',
  'reconcilePayments',
  'recordReconciliation',
  'recordRetention',
  'reportFailedReconciliation',
  'requestPayout',
  'requestScheduledPayouts',
  'verifyAudit',
  'verifyLedger',
];

const db = createPool('postgresql://127.0.0.1:1/none', { max: 1 });
const dependencies = activityDependencies(
  { db, environment: 'sandbox', onDeliveries: () => undefined },
  new FakeAcquirer(),
);
afterAll(() => db.end());

function bare(_: ActivityDependencies, input: string): Promise<string> {
  return Promise.resolve(input);
}

function declared(_: ActivityDependencies, input: string): Promise<string> {
  return Promise.resolve(input);
}
declared.checked = unchecked(declared);

it('refuses an activity that declares no check', () => {
  // @ts-expect-error The type refuses it too.
  expect(() => createActivities(dependencies, { ...ACTIVITIES, bare })).toThrow('The activity bare declares no check');
});

it('registers an activity that declares one under its name', () => {
  const names = Object.keys(createActivities(dependencies, { ...ACTIVITIES, declared }));
  expect(names.toSorted()).toEqual([...Object.keys(ACTIVITIES), 'declared'].toSorted());
});

it('checks every activity but these', () => {
  const found = Object.entries(ACTIVITIES).filter(([, activity]) => Object.is(activity.checked, activity));
  expect(found.map(([name]) => name).toSorted()).toEqual(UNCHECKED);
});
