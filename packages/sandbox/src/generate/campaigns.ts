import type { Random } from './random.ts';
import type { Country } from './reserved.ts';
import type { Trade } from './trades.ts';

/** A keyword that an account bids on. */
export interface Keyword {
  readonly id: string;
  readonly text: string;
  /** The text, percent-encoded for a URL. */
  readonly encoded: string;
  readonly match: 'Exact' | 'Phrase' | 'Broad';
}

/** A group of ads that share keywords and a landing page. */
export interface AdGroup {
  readonly id: string;
  readonly name: string;
  /** Index of the landing page in the trade's pages. */
  readonly page: number;
  readonly keywords: readonly Keyword[];
  readonly adIds: readonly string[];
}

/** A campaign of the account's search advertising. */
export interface Campaign {
  readonly id: string;
  readonly name: string;
  readonly groups: readonly AdGroup[];
}

const kinds = ['Generic', 'Brand', 'Remarketing'] as const;

/** Campaigns for one town are named by it and its zip code, which are also those of callers. */
const towns: Readonly<Record<Country, string>> = {
  us: 'Houston 77002',
  ca: 'Montréal H2X 1Y4',
  gb: 'London EC1A 1BB',
};

const matches = ['Exact', 'Phrase', 'Broad'] as const;

/**
 * The campaigns of an account, with ad groups by theme and keywords by match type. Their ids never
 * change.
 */
export function makeCampaigns(random: Random, trade: Trade): readonly Campaign[] {
  return [...kinds, towns[trade.country]].map((kind) => ({
    id: random.digits(10),
    name: `${trade.name} | ${kind}`,
    groups: Object.entries(trade.themes).map(([theme, words], at) => ({
      id: random.digits(11),
      name: `${theme} – ${kind.toLowerCase()}`,
      page: (at + 1) % trade.pages.length,
      keywords: words.flatMap((word) =>
        matches.map((match) => {
          const text = kind === 'Brand' ? `${trade.name.toLowerCase()} ${word}` : word;
          return { id: random.digits(12), text, encoded: encodeURIComponent(text), match };
        }),
      ),
      adIds: [random.digits(12), random.digits(12), random.digits(12)],
    })),
  }));
}
