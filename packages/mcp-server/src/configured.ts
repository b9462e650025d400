import type { Call } from '@call-attribution/core';
import { type FieldSpec, fields } from '@call-attribution/core';
import { scrub } from '@call-attribution/core/record';
import {
  type Definitions,
  judgedEarly,
  judgedField,
  maskedTruths,
  type Outcome,
  planCalls,
  type Spend,
  withoutValues,
} from '@call-attribution/questions';
import type {
  AnnotatedNumbers,
  Annotation,
  NamedReport,
  NamedRules,
} from '@call-attribution/settings';
import { findField, shownAs } from './fields.ts';
import { agentsSee, type MaskCalls, type MaskedCall, type Reveal } from './privacy/mask.ts';

/** What an operator has given names to. */
export interface Configured {
  /**
   * Conditions by their names, such as `{ lead: 'talk_minutes >= 2' }`: a name stands wherever a
   * condition stands. They are about calls as they were sent, so they may name what agents do not
   * see.
   */
  readonly definitions: Definitions;
  /** The name of the definition of calls that do not count; null for none. */
  readonly exclude: string | null;
  /** Rules for conversions by their names. */
  readonly rules: Readonly<Record<string, NamedRules>>;
  /** Reports by their names: options of `calls report`, such as `{ by: 'campaign' }`. */
  readonly reports: ReadonlyMap<string, NamedReport>;
  /** What was spent, by names: agents never name a file. */
  readonly spend: FilesByName<Spend>;
  /** What calls became, by names; read for one account. */
  readonly outcomes: FilesByName<Outcome>;
  /** The annotations that belong to numbers of a period and of accounts, in the order of their days. */
  readonly annotations: (numbers: AnnotatedNumbers) => readonly Annotation[];
}

/** What files say that an operator has given names to. */
export interface FilesByName<T> {
  /** The names. */
  readonly names: readonly string[];
  /**
   * Reads what some of them say of accounts, which are named too. `how` is what a report says in
   * place of the option that the configuration has beside a file: headings of spend, or the order of
   * dates of outcomes.
   */
  read(
    names: readonly string[],
    accounts: readonly string[],
    how: string | null,
  ): Promise<readonly T[]>;
}

/** Nothing. */
export const nothingConfigured: Configured = {
  definitions: {},
  exclude: null,
  rules: {},
  reports: new Map(),
  spend: { names: [], read: async () => [] },
  outcomes: { names: [], read: async () => [] },
  annotations: () => [],
};

/** The names of an operator as tools use them. */
export interface Words {
  /** For questions to a copy: what they say of personal data was judged before it was masked. */
  readonly definitions: Definitions | undefined;
  readonly exclude: string | undefined;
  /** What each means, with `…` for what agents must not see. */
  readonly shown: ReadonlyMap<string, string>;
  readonly rules: ReadonlyMap<string, NamedRules>;
  readonly reports: ReadonlyMap<string, NamedReport>;
  /** The definitions as they are written, for calls as they were sent. */
  readonly written: Definitions;
  /** A condition of the operator with `…` for what agents must not see. */
  shownText(condition: string): string;
  /** What was judged; copies that were made by something else are others. */
  readonly judged: string;
  /** Masks calls, and notes on each what was judged of it before. */
  masking(mask: (call: Call) => MaskedCall): MaskCalls;
}

/** Reads the names of an operator. Throws a `QuestionError` for a definition with a mistake. */
export function readWords(
  {
    definitions: written,
    exclude,
    rules,
    reports,
  }: Omit<Configured, 'spend' | 'outcomes' | 'annotations'>,
  reveal: ReadonlySet<Reveal>,
): Words {
  const names = Object.keys(written);
  const { definitions, tests } = judgedEarly(written, (name) => isMasked(name, reveal));
  if (exclude !== null) planCalls({ definitions, exclude });
  const isShown = (name: string): boolean => {
    const spec = shownAs(fields, name);
    return spec === undefined || agentsSee(spec, reveal) === 'shown';
  };
  const shownText = (condition: string): string => scrub(withoutValues(condition, isShown));
  return {
    definitions: names.length === 0 ? undefined : definitions,
    exclude: exclude ?? undefined,
    shown: new Map(names.map((name) => [name, shownText(written[name] ?? '')])),
    rules: new Map(Object.entries(rules)),
    reports,
    written,
    shownText,
    judged: JSON.stringify(tests),
    masking: (mask) => (calls) => {
      const masked = calls.map(mask);
      const truths = maskedTruths(tests, calls, masked);
      return masked.map((call, at) =>
        truths[at] === null ? call : { ...call, [judgedField]: truths[at] },
      );
    },
  };
}

/** May a masked call have another value of a field than was sent? Times and plain numbers stay. */
function isMasked(name: string, reveal: ReadonlySet<Reveal>): boolean {
  const spec = findField(fields, name);
  if (spec === undefined || reveal.has('all')) return false;
  return spec.agents !== 'shown' || spec.isId || isText(spec);
}

const isText = ({ type }: FieldSpec): boolean => type === 'string' || type === 'url';
