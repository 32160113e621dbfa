import { accessLevel, MEMBER_AREAS, MEMBER_ROLES } from '../../src/domain/member-roles';
import { readSection, writeSection } from '../support/marked-section';

const SECTION = { page: 'docs/dashboard.md', kind: 'generated', name: 'member-roles' } as const;

/** A row for each area, a column for each role, as prettier aligns them. */
function renderRoles(): string {
  const rows = MEMBER_AREAS.map((area) =>
    [area.replace('_', ' ')].concat(MEMBER_ROLES.map((role) => accessLevel(role, area).replace('none', '–'))),
  );
  const table = [['', ...MEMBER_ROLES], ...rows];
  const [header = [], ...body] = table;
  const widths = header.map((_, column) => Math.max(3, ...table.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

it('docs/dashboard.md has what each role may do (UPDATE_ROLES=1 writes it)', () => {
  if (process.env.UPDATE_ROLES === '1') writeSection(SECTION, renderRoles());
  expect(readSection(SECTION)).toBe(renderRoles());
});
