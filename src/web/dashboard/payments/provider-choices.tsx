import type { ReactElement } from 'react';
import type { ProviderName } from '../../../domain/provider-capabilities';
import { Choices } from '../../ui/choices';
import type { FormPage } from '../form-pages';
import { PROVIDER_NAMES } from './provider-names';

interface ProviderChoicesProps extends Pick<FormPage<unknown>, 'view' | 'errors' | 'attributes'> {
  /** The note stands beside the name. */
  readonly providers: readonly { readonly name: ProviderName; readonly note?: string }[];
  readonly chosen: string;
  readonly hint?: string;
}

/** Which provider a payment has. A single one is sent without a choice. */
export function ProviderChoices(props: ProviderChoicesProps): ReactElement | null {
  const { view, providers, chosen, hint, errors, attributes } = props;
  const [first, ...others] = providers;
  if (first === undefined) return null;
  if (others.length === 0) return <input type="hidden" name="provider" value={first.name} />;
  return (
    <Choices
      name="provider"
      kind="radio"
      label={view.texts.create.provider}
      choices={providers.map(({ name, note }) => ({
        name,
        label: PROVIDER_NAMES[name],
        note,
        isChosen: name === chosen,
      }))}
      hint={hint}
      error={errors.provider}
      {...attributes.provider}
    />
  );
}
