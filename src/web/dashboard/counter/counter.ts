import { z } from 'zod';
import { findCreationHabits, listOwnPayments } from '../../../db/payments/own-payments';
import { dayOf, startOfDay } from '../../ui/format';
import { memberFormPages } from '../form-pages';
import { CREATION_FORM, creationAmount, providerField } from '../payments/creation-form';
import { sumOwnDay } from '../payments/own-day';
import { qrPath } from '../payments/payment-paths';
import { renderCounterPage } from './counter-page';
import { counterPath } from './counter-paths';

const USUAL_AMOUNTS = 6;
const LAST_PAYMENTS = 5;

const counterFields = z
  .object({ amount: creationAmount, provider: providerField })
  .transform(({ amount, provider }) => ({
    amountRupiah: amount,
    provider,
    merchantReferenceId: null,
    description: null,
    expiresInSeconds: null,
  }));

/** A payment by as few taps as possible, and what the member has taken today. */
export const counterPages = memberFormPages({
  at: counterPath,
  ...CREATION_FORM,
  fields: () => counterFields,
  done: ({ referenceId }, { view }) => qrPath.to({ ...view, ref: referenceId }, { from: 'counter' }),
  render: async (page, dependencies) => {
    const { view, subject, now } = page;
    const { zone } = view.locale;
    const own = { merchantId: subject.merchantId, userId: view.userId };
    const day = { ...own, since: startOfDay(dayOf(now, zone), zone) };
    const [habits, sum, payments] = await Promise.all([
      findCreationHabits(dependencies.db, own, USUAL_AMOUNTS),
      sumOwnDay(dependencies, day),
      listOwnPayments(dependencies.db, day, LAST_PAYMENTS),
    ]);
    return renderCounterPage({ ...page, habits, sum, payments });
  },
});
