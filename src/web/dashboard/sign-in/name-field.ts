import { z } from 'zod';
import { attributesOf } from '../../page/field-attributes';

const MAX_NAME_CHARACTERS = 100;

/** A name that a user, or a passkey, may have. */
export const nameField = z
  .string({ error: 'missing' })
  .max(MAX_NAME_CHARACTERS, { error: 'name' })
  .refine((text) => !/\p{Cc}/u.test(text), { error: 'name' });

/** What the browser checks of a name. */
export const NAME_ATTRIBUTES = attributesOf(z.object({ name: nameField })).name;
