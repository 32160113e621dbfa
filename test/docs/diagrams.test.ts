import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import { readSection, writeSection } from '../support/marked-section';
import { dumpMigratedSchema } from '../support/schema-dump';
import { renderEntityDiagram, renderStateDiagram } from './diagrams';

describe('the generated diagrams', () => {
  it.each([
    ['ARCHITECTURE.md', 'payment-states', renderStateDiagram],
    ['docs/data-model.md', 'entities', async () => renderEntityDiagram(await dumpMigratedSchema())],
  ])('the generated diagrams of %s show the present %s (UPDATE_DIAGRAMS=1 writes them)', async (page, name, render) => {
    const section = { page, kind: 'generated', name };
    const diagram = await render();
    if (process.env.UPDATE_DIAGRAMS === '1') writeSection(section, diagram);
    expect(readSection(section)).toBe(diagram);
  });

  it('docs/data-model.md names each table of the schema', async () => {
    const page = readFileSync(path.join(PACKAGE_ROOT, 'docs', 'data-model.md'), 'utf8');
    const tables = [...(await dumpMigratedSchema()).matchAll(/^create table (\w+)/gm)].map(([, name = '']) => name);
    expect(tables.length).toBeGreaterThan(50);
    expect(tables.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('shows references and how many rows a reference connects', () => {
    const schema = `create table merchants (
  id uuid not null,
  name text not null
);
create table payments (
  id uuid not null,
  merchant_id uuid not null,
  parent_id uuid
);
create table late_payments (
  payment_id uuid not null
);

alter table late_payments add constraint a FOREIGN KEY (payment_id) REFERENCES payments(id);
alter table late_payments add constraint b PRIMARY KEY (payment_id);
alter table merchants add constraint c PRIMARY KEY (id);
alter table payments add constraint d FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table payments add constraint e FOREIGN KEY (parent_id) REFERENCES payments(id);
alter table payments add constraint f PRIMARY KEY (id);
`;
    expect(renderEntityDiagram(schema).split('\n')).toEqual([
      '```mermaid',
      'erDiagram',
      '  payments ||--o| late_payments : "payment_id"',
      '  merchants ||--o{ payments : "merchant_id"',
      '  payments |o--o{ payments : "parent_id"',
      '```',
    ]);
  });
});
