import type { Call } from '@call-attribution/core';
import type { DerivedName } from '../fields/derived.ts';
import type { AnswerValue } from './answer.ts';
import type { Question } from './question.ts';

/** Names that people use for fields, with the fields. */
type SaidNames = {
  readonly campaign: 'ppc_campaign';
  readonly adgroup: 'ppc_adgroup';
  readonly ad_group: 'ppc_adgroup';
  readonly keyword: 'ppc_keywords';
  readonly keywords: 'ppc_keywords';
  readonly match_type: 'ppc_match_type';
  readonly status: 'ppc_status';
  readonly gclid: 'ppc_gclid';
  readonly landing: 'landing_page';
  readonly label: 'phone_label';
  readonly source: 'referrer';
  readonly network: 'vt_network';
  readonly device: 'vt_device';
  readonly caller: 'ani';
  readonly date: 'day';
};

/** Names of fields as the API and this package have them. */
type OwnName = (keyof Call & string) | DerivedName | 'account' | 'is_extension';

/** A name as people write it: `landing page`. */
type Spaced<N extends string> = N extends `${infer Word}_${infer Rest}` ? `${Word} ${Spaced<Rest>}` : N;
/** The same name with `_` between its words. */
type Joined<N extends string> = N extends `${infer Word} ${infer Rest}` ? `${Word}_${Joined<Rest>}` : N;

/** A name of a field that groups can have. Programs that pass on what a person wrote use `string`. */
export type KnownField = OwnName | keyof SaidNames | Spaced<OwnName | keyof SaidNames>;

/** The column that a group has. */
type ColumnOf<G> = G extends string
  ? Joined<G> extends keyof SaidNames
    ? SaidNames[Joined<G>]
    : Joined<G>
  : never;

/** The column that a measure has. */
type MeasureColumn<M> = M extends `${string} as ${infer Name}`
  ? Lowercase<Name>
  : M extends `${infer Name extends 'distinct' | 'without' | 'median' | 'mean' | 'p90'}(${infer Field})`
    ? `${Name}_${ColumnOf<Field>}`
    : M extends `${infer Name extends 'called_again_within' | 'reached_within'}(${infer Hours})`
      ? `${Name}_${Hours}`
      : M extends string
        ? M
        : string;

/** The names of the groups of a question. */
type GroupsOf<Q> = Q extends { readonly groupBy: readonly (infer G)[] } ? ColumnOf<G> : never;
/** The names of its measures. */
type MeasuresOf<Q> = Q extends { readonly measures: readonly (infer M)[] } ? MeasureColumn<M> : 'calls';
/** Columns that an option adds. */
type Extra<Q, M> =
  | (Q extends { readonly compare: object | string }
      ? `${M & string}_before` | `${M & string}_change`
      : never)
  | (Q extends { readonly spend: object } ? 'spend' | 'cost_per_call' : never);

/** The rows of the answer to a question: its columns by name, where the question is written out in the program. */
export type RowOf<Q extends Question> = Question extends Q
  ? Readonly<Record<string, AnswerValue>>
  : string extends GroupsOf<Q> | MeasuresOf<Q>
    ? Readonly<Record<string, AnswerValue>>
    : { readonly [column in GroupsOf<Q> | MeasuresOf<Q> | Extra<Q, MeasuresOf<Q>>]: AnswerValue };
