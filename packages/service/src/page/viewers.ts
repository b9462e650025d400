import { fields } from '@call-attribution/core/fields';
import { scrub } from '@call-attribution/core/record';
import {
  fieldsOf,
  parseCondition,
  planQuestion,
  type Question,
  questionFields,
  spelledOut,
} from '@call-attribution/questions';
import type { Viewer } from '../http/public-types.ts';
import { Refusal } from '../http/refusal.ts';
import type { PageSetup } from '../options.ts';
import type { PageDimension } from './question.ts';

// Who looks at the page, and how much of the calls they see. All that is decided here: the routes of
// the page ask for an account, for fields and for values, and show what they get.

/** An account of the store. */
export interface Account {
  readonly id: string;
  readonly name: string;
}

/** The accounts that a viewer sees. */
export function accountsFor<A extends Account>(viewer: Viewer, known: readonly A[]): readonly A[] {
  const { accounts } = viewer;
  if (accounts === null) return known;
  return known.filter(({ id, name }) => accounts.includes(id) || accounts.includes(name));
}

/**
 * The account that a viewer asks for, by ID or name; the first one when they name none. An account
 * of others is refused like one that is not there.
 */
export function accountFor(
  viewer: Viewer,
  known: readonly Account[],
  wanted: string | null,
): Account {
  const own = accountsFor(viewer, known);
  const named = own.find(({ id }) => id === wanted) ?? own.find(({ name }) => name === wanted);
  const account = wanted === null ? own[0] : named;
  if (account !== undefined) return account;
  throw new Refusal('malformed_parameter', 'The store has no account of the parameter account.', {
    parameter: 'account',
  });
}

/** How much somebody sees of calls. */
export type Sight = Pick<Viewer, 'accounts' | 'personal'>;

/** What somebody sees from whom nothing is hidden. */
export const everythingSeen: Sight = { accounts: null, personal: true };

/** Fields that somebody does not see. */
export function hiddenFrom({ personal }: Sight): readonly string[] {
  return personal ? [] : hidden;
}

const hidden = fields.filter(({ agents }) => agents !== 'shown').map(({ name }) => name);
const visitorText = new Set<string>(
  fields.filter(({ visitorText, isId }) => visitorText && !isId).map(({ name }) => name),
);

/**
 * A value of a field as somebody sees it: of what visitors wrote, without numbers and addresses.
 * Only fields that are not hidden are asked for.
 */
export function seenValue<T>({ personal }: Sight, field: string, value: T): T | string {
  if (personal || typeof value !== 'string' || !visitorText.has(field)) return value;
  return scrub(value);
}

/**
 * What somebody sees, on the page of an account, of what a team has set up. Those who see some
 * accounts only get reports and annotations that name the account, and none with spend or
 * outcomes, whose file may be of others, too. Those who do not see personal
 * data get no definition and no report that looks at it: which calls they have would tell.
 */
export function setupFor(sight: Sight, { id, name }: Account, setup: PageSetup): PageSetup {
  const isFor = (accounts: readonly string[] | null): boolean =>
    accounts === null ? sight.accounts === null : accounts.includes(id) || accounts.includes(name);
  const { definitions, exclude, reports, annotations } = setup;
  const isSeen = (question: Question): boolean => sight.personal || !isPersonal(question);
  const seen = Object.entries(definitions).filter(([where]) => isSeen({ where, definitions }));
  return {
    definitions: Object.fromEntries(seen),
    exclude: seen.some(([name]) => name === exclude) ? exclude : null,
    reports: reports.filter(
      ({ accounts, question, files }) =>
        isFor(accounts) &&
        isSeen({ ...question, definitions }) &&
        (files === null || sight.accounts === null),
    ),
    annotations: annotations.filter(({ account }) => isFor(account === null ? null : [account])),
  };
}

/** Whether a question looks at personal data: in its groups, its measures or its condition. */
function isPersonal({ where, definitions = {}, ...question }: Question): boolean {
  const { groups, measured } = planQuestion({ definitions, ...question });
  const chosen = where === undefined ? null : parseCondition(spelledOut(where, definitions));
  const conditions = chosen?.ok ? [...measured, chosen.condition] : measured;
  const named = [
    ...groups.map(({ name }) => name),
    ...conditions.flatMap((each) => [...fieldsOf(each)]),
  ];
  return [...questionFields().values()].some(
    ({ name, personal }) => named.includes(name) && (personal || hidden.includes(name)),
  );
}

/** Refuses a value to keep that the viewer does not see as it is: it could only be a guess. */
export function refuseGuess(
  sight: Sight,
  only: ReadonlyMap<PageDimension, readonly (string | null)[]>,
): void {
  for (const [field, values] of only)
    for (const value of values)
      if (seenValue(sight, field, value) !== value)
        throw new Refusal(
          'malformed_parameter',
          `A value of ${field} in the parameter only holds a number or an address, which you do not see.`,
          { parameter: 'only' },
        );
}
