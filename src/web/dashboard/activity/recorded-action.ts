import type { Language } from '../../../domain/sign-in';
import type { OperatorActionName } from '../../../services/audit/operator-action-names';
import type { UserActionName } from '../../../services/audit/user-audit';
import type { MerchantOperationName } from '../../../services/operations/all';

/** What `show_to_merchants` of the schema keeps: every change of these objects, no reading. */
type ShownOperatorAction =
  | 'fee.agree'
  | 'sandbox.trigger'
  | Exclude<
      Extract<OperatorActionName, `${'merchant' | 'key' | 'webhook' | 'bank_account' | 'user'}.${string}`>,
      `${string}.show` | 'user.link'
    >;

/** Every action that the activity can have. */
export type RecordedAction = UserActionName | MerchantOperationName | ShownOperatorAction;

/** Some of the actions in words, which stand with the other texts of their area. */
export type ActionTexts = Readonly<Record<Language, Readonly<Partial<Record<RecordedAction, string>>>>>;
