import { itemAt } from '@call-attribution/core/errors';
import { type Campaign, makeCampaigns } from './campaigns.ts';
import { makePerson, type Person } from './people.ts';
import { mix, Random } from './random.ts';
import { businessNumber, callerCount } from './reserved.ts';
import { type Trade, trades } from './trades.ts';

/** A generated account: what all its calls have in common. */
export interface GeneratedAccount {
  readonly id: string;
  readonly name: string;
  readonly seed: number;
  readonly trade: Trade;
  readonly campaigns: readonly Campaign[];
  readonly adsAccountId: string;
  readonly poolIds: readonly number[];
  readonly domainSetId: number;
  /** Tracking numbers with their labels. */
  readonly numbers: readonly { readonly number: string; readonly label: string | null }[];
}

// Id of the first account; the others count up from it.
const firstAccount = 101;

/**
 * Makes the account of this index (0, 1, 2, ...); the same seed and index give the same account.
 */
export function makeAccount(seed: number, index: number): GeneratedAccount {
  const own = mix(mix(seed) + index);
  const random = new Random(own);
  const trade = itemAt(trades, index % trades.length);
  const round = Math.floor(index / trades.length);
  const name = round === 0 ? trade.name : `${trade.name} ${round + 1}`;
  const campaigns = makeCampaigns(random, trade);
  const labels = ['Website pool', 'Landing pages, "A" test', 'Vans; posters', 'Mailings', null];
  return {
    id: String(firstAccount + index),
    name,
    seed: own,
    trade,
    campaigns,
    adsAccountId: random.digits(10),
    poolIds: [1, 2, 3, 4].map((pool) => 1000 + index * 10 + pool),
    domainSetId: 70 + index,
    numbers: Array.from({ length: 20 }, (_, i) => ({
      number: businessNumber(trade.country, index * 20 + i),
      label: labels[i % labels.length] ?? null,
    })),
  };
}

/** Returns the person of each caller of an account, who is made once. */
export function peopleOf(account: GeneratedAccount): (caller: number) => Person {
  const random = new Random(0);
  const known = new Map<number, Person>();
  const capacity = callerCount(account.trade.country);
  return (caller) => {
    const index = caller % capacity;
    const found = known.get(index);
    if (found) return found;
    random.reseed(mix(account.seed ^ 0x5bd1e995) + index);
    const person = makePerson(random, account.trade.country, index);
    known.set(index, person);
    return person;
  };
}
