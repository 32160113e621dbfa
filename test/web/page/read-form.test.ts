import { z } from 'zod';
import { parseFields } from '../../../src/web/page/read-form';

const schema = z.object({ day: z.string().optional() });

it.each(['constructor', 'toString', '__proto__', 'other'])('an unknown field is ignored: %s', (name) => {
  const parsed = parseFields(
    schema,
    new URLSearchParams([
      ['day', '1'],
      [name, 'x'],
    ]),
  );
  expect(parsed).toMatchObject({ ok: true, values: { day: '1' } });
});

it('a field that is sent twice has an error', () => {
  const parsed = parseFields(schema, new URLSearchParams('day=1&day=2'));
  expect(parsed).toMatchObject({ ok: false, errors: { day: 'repeated' } });
});
