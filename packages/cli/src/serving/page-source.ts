import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Settings } from '@call-attribution/core/settings';
import { formatNaive } from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import type { AccountStatus, CallSelection, Question } from '@call-attribution/questions';
import {
  keptValues,
  type PageQuestion,
  type PageSource,
  type PageSummary,
  pageBucket,
  pageMeasures,
  pageQuestions,
  pageSummary,
  pageTotals,
  periodBefore,
} from '@call-attribution/service';
import type { Warehouse } from '@call-attribution/warehouse';

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
    async *summary(_account, question, by, signal) {
      const past = pastTotals(question);
      const q = printFilter(question.filter);
      const all = allCalls(await warehouse.lastSync());
      const bucket = pageBucket(question, by, all);
      const now = pageQuestions(question, bucket).map((each) => ({ ...each, q, signal }));
      const answers = await warehouse.analyzeAll([...now, ...past]);
      const summary = pageSummary(question, bucket, answers, all);
      yield { ...summary, before: past.length === 0 ? null : pageMeasures(answers.at(-1)) };
    },
    async calls(_account, question, { offset, limit }) {
      // All of them come in slices of time.
      const cut = limit === Number.MAX_SAFE_INTEGER ? {} : { limit, offset };
      const calls = warehouse.calls({ ...selectionOf(question), ...cut, order: 'date_added desc' });
      return { total: null, calls };
    },
    call: (_account, sid) => warehouse.get(sid),
  };
}

/** The totals of the period before, where there is one. */
function pastTotals(question: PageQuestion): Question[] {
  const period = periodBefore(question);
  if (period === null) return [];
  const clauses = question.filter.clauses.filter(
    (clause) => clause.kind !== 'range' || clause.field !== 'date_added',
  );
  const [from, to] = [formatNaive(period.from), formatNaive(period.to)];
  return [{ ...pageTotals(question), q: printFilter({ clauses }), from, to }];
}

/** All calls of some accounts, whatever is selected. */
function allCalls(accounts: readonly AccountStatus[]): Pick<PageSummary, 'all' | 'earliest' | 'latest'> {
  return {
    all: accounts.reduce((sum, { calls }) => sum + calls, 0),
    earliest: accounts.flatMap(({ first }) => first ?? []).sort()[0] ?? null,
    latest:
      accounts
        .flatMap(({ last }) => last ?? [])
        .sort()
        .at(-1) ?? null,
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
