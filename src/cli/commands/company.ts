import { z } from 'zod';
import { COMPANY_RULES, findCompany, setCompany, type CompanyDetails } from '../../services/invoices/company-details';
import { requireDone } from '../../services/operations/require-done';
import { readJsonFile } from '../json-file';
import type { LunasCommand } from '../lunas-command';
import { formatFields, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

export function defineCompany(company: LunasCommand): void {
  company
    .command('set')
    .description('set who issues invoices, from a JSON file; in production a second operator approves the request')
    .requiredOption('--file <file>', 'a JSON object with legal_name, address and tax_number; - is standard input')
    .examples('lunas company set --file company.json --note "moved"')
    .writeAction(z.object({ file: z.string() }), async ({ file }, audit) => {
      const call = { path: {}, input: await readJsonFile(file, COMPANY_RULES) };
      return companyResult(requireDone(await runOperation(audit, setCompany, audit, call)));
    });
  company
    .command('show')
    .description('show who issues invoices')
    .databaseAction(z.object({}), async (_input, db) => companyResult((await findCompany(db)) ?? null));
}

function companyResult(company: CompanyDetails | null): CommandResult {
  if (company === null) return { json: { company }, text: 'The company has no details; see lunas company set.' };
  const { version, legalName, address, taxNumber, createdAt } = company;
  const fields = { Version: version, 'Legal name': legalName, Address: address, 'Tax number': taxNumber };
  return { json: { company }, text: formatFields({ ...fields, Since: createdAt }) };
}
