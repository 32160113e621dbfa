import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import type { AuditDependencies } from '../audit/audit';
import { DETAIL_RULES } from '../merchants/merchant-identity';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';

const { legalName, address, taxNumber } = DETAIL_RULES;
/** Who issues the invoices: the keys of a file with these details. */
export const COMPANY_RULES = { legalName, address, taxNumber };

const companyInput = z.object({
  ...COMPANY_RULES,
  /** Absent: the next one. An approved request names it. */
  version: z.int().optional(),
});

/** A version of who issues the invoices. */
export interface CompanyDetails {
  readonly version: number;
  readonly legalName: string;
  readonly address: string;
  readonly taxNumber: string;
  readonly createdAt: Date;
}

const COLUMNS = `version, legal_name as "legalName", address, tax_number as "taxNumber", created_at as "createdAt"`;

/** The newest version; undefined: nothing can be issued yet. */
export async function findCompany(db: Queryable): Promise<CompanyDetails | undefined> {
  const { rows } = await db.query<CompanyDetails>(
    `select ${COLUMNS} from company_details order by version desc limit 1`,
  );
  return rows[0];
}

/** Sets who issues the invoices, as the next version. In production two operators decide. */
export const setCompany = new Operation({
  name: 'company.set',
  operator: 'all',
  path: z.object({}),
  input: companyInput,
  rejections: { superseded: {} },
  messages: { superseded: () => 'The company has newer details than those that were seen: request it again.' },
  load: async ({ db }: AuditDependencies) => ({ next: ((await findCompany(db))?.version ?? 0) + 1 }),
  target: ({ input }) => input.legalName,
  approval: {
    executes: 'database',
    propose: ({ subject: { next }, input }) => ({
      parameters: { ...input, version: next },
      store: () => Promise.resolve(),
    }),
  },
  async perform({ needs: { db }, subject: { next }, input: { version = next, ...details } }) {
    const written = version === next ? await insertCompany(db, { version, ...details }) : null;
    return written === null ? rejected({ reason: 'superseded' }) : done(written);
  },
});

/** Null if there is such a version already. */
export async function insertCompany(
  db: Queryable,
  company: Omit<CompanyDetails, 'createdAt'>,
): Promise<CompanyDetails | null> {
  const { rows } = await db.query<CompanyDetails>(
    `insert into company_details (version, legal_name, address, tax_number) values ($1, $2, $3, $4)
     on conflict (version) do nothing returning ${COLUMNS}`,
    [company.version, company.legalName, company.address, company.taxNumber],
  );
  return rows[0] ?? null;
}
