import { textOf } from '@call-attribution/core/time';
import {
  type Plan,
  planQuestion,
  type Question,
  type ReadOptions,
} from '@call-attribution/questions';

/** A question, and what is known of it before any call is read. */
export interface AskedQuestion {
  readonly question: Question;
  readonly plan: Plan;
  /** How it was read: all questions of a report are read at the same moment. */
  readonly read: ReadOptions;
}

/** A group of a question. */
interface Group {
  readonly name: string;
  readonly isTime: boolean;
}

/**
 * How a report is laid out: the groups of its rows, and the time that goes across, which a picture
 * shows.
 */
export interface Layout {
  readonly rows: readonly Group[];
  readonly across: Group | null;
  /** The group within each row of a page, where none of the two is a time. */
  readonly inner: Group | null;
  /**
   * What is asked: the rows; with a time across also its calls in each row, and in all; with a
   * group within the rows also the pairs.
   */
  readonly plans: readonly Plan[];
}

/** The period of a plan as a question has it. */
function ofPeriod({ period }: Plan): Pick<Question, 'from' | 'to'> {
  const { from, to } = textOf(period);
  return { from: from ?? undefined, to: to ?? undefined };
}

/** Most rows of data, and of time, which is always shown whole. */
const mostRows = 1_000_000;

/**
 * The layout of a question. For people, a time that is one of two groups goes across; on a page,
 * other second groups stand within the first ones. With an order, each pair has its row.
 */
export function layoutOf(
  { question, plan, read }: AskedQuestion,
  isForPeople: boolean,
  isPage = false,
): Layout {
  const { groups } = plan;
  const [first, second] = groups;

  const limited = (rows: readonly Group[]): Question => ({
    ...question,
    groupBy: rows.map(({ name }) => name),
    limit: question.limit ?? (isForPeople && rows[0]?.isTime !== true ? 10 : mostRows),
  });
  const planned = (...questions: Question[]) => questions.map((each) => planQuestion(each, read));

  const across = second?.isTime ? second : first;
  const isPair = isForPeople && question.order === undefined && groups.length === 2;
  if (isPair && isPage && first && second && !across?.isTime) {
    const plans = planned(limited([first]), { ...limited(groups), limit: mostRows });
    return { rows: [first], across: null, inner: second, plans };
  }

  if (!isPair || !across?.isTime)
    return { rows: groups, across: null, inner: null, plans: planned(limited(groups)) };
  const rows = groups.filter((group) => group !== across);
  const { compare, from, to, period, spend: _, outcomes: __, ...plain } = question;

  // What is drawn along time is the period of the table, which a comparison may have cut.
  const isCompared = compare !== undefined;
  const drawn = isCompared ? ofPeriod(plan) : { from, to, period };

  const calls = (...by: readonly Group[]): Question => ({
    ...plain,
    ...drawn,
    groupBy: by.map(({ name }) => name),
    measures: ['calls'],
    limit: mostRows,
  });

  const plans = planned(limited(rows), calls(...rows, across), calls(across));
  return { rows, across, inner: null, plans };
}
