import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Settings } from '@call-attribution/core/settings';
import { printFilter } from '@call-attribution/query-dsl';
import type { CallSelection } from '@call-attribution/questions';
import { keptValues, type PageQuestion, type PageSource } from '@call-attribution/service';
import type { Warehouse } from '@call-attribution/warehouse';
import { pageNumbers } from './page-numbers.ts';

/** Who may see the page of a warehouse. */
export interface PageAccess {
  readonly findAccount: NonNullable<PageSource['findAccount']>;
  /** The token that was made because no keys are set; null when there are. */
  readonly token: string | null;
}

/**
 * The page of a warehouse accepts the keys that the API is read with, from the environment or `calls.config.json`. Without any
 * it accepts a token that is made for this run.
 */
export function pageAccess({ secret }: Pick<Settings, 'secret'>): PageAccess {
  const read = (name: 'accessKey' | 'secretKey' | 'bearerToken') => secret(name)?.value ?? null;
  const [accessKey, secretKey, bearer] = [read('accessKey'), read('secretKey'), read('bearerToken')];
  const hasKeys = accessKey !== null && secretKey !== null;
  const token = hasKeys || bearer !== null ? null : randomBytes(24).toString('base64url');
  const accepted = [
    ...(hasKeys ? [`keys\n${accessKey}\n${secretKey}`] : []),
    ...[bearer, token].flatMap((each) => (each === null ? [] : [`bearer\n${each}`])),
  ].map(digest);
  return {
    token,
    async findAccount(credential) {
      const sent = digest(
        credential.kind === 'keys'
          ? `keys\n${credential.accessKey}\n${credential.secretKey}`
          : `bearer\n${credential.token}`,
      );
      const isKnown = accepted.some((each) => timingSafeEqual(each, sent));
      return isKnown ? { id: 'warehouse', name: 'Warehouse', disabled: false } : null;
    },
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A warehouse as the source of the page: DuckDB answers, nothing is kept in memory. */
export function warehousePage(
  warehouse: Warehouse,
  findAccount: NonNullable<PageSource['findAccount']>,
): PageSource {
  return {
    findAccount,
    async *summary(_account, question, by) {
      yield await pageNumbers(warehouse, question, by);
    },
    async calls(_account, question, { offset, limit }) {
      const selection = selectionOf(question);
      const { calls } = await warehouse.count(selection);
      const isAll = offset === 0 && limit >= calls;
      const cut = isAll ? {} : { limit, offset };
      return { total: calls, calls: warehouse.calls({ ...selection, ...cut, order: 'date_added desc' }) };
    },
    call: (_account, sid) => warehouse.get(sid),
  };
}

/** The selection of a question. */
function selectionOf({ version, filter, only }: PageQuestion): CallSelection {
  const where = keptValues(only);
  return {
    q: printFilter(filter),
    // Only v3 leaves out calls through call extensions unless the filter includes them.
    ...(version === 'v2' ? { calls: 'all' } : {}),
    ...(where === null ? {} : { where }),
  };
}
