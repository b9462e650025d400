import { type Answer, extensionsSentence, type Question } from '@call-attribution/questions';
import type { Args, Handler } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { type Io, say, show } from '../io.ts';
import { intoFile, saveLines } from '../output/file.ts';
import { writeRows } from '../output/rows.ts';
import { type RowFormat, rowFormats, targetOf } from '../output/target.ts';
import { countedText } from '../reading/filter.ts';
import { plural } from '../term/numbers.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { placeOf } from './ask.ts';
import { headOf, readUntil } from './head.ts';
import { reportPage } from './page.ts';
import { layoutOf, personalGroup, questionOf } from './question.ts';
import { reportLines } from './terminal.ts';
import { reportOf, shownBelow } from './view.ts';

/** `calls report`: a question about calls, answered in the terminal, as data, or as a page. */
export const report: Handler = (args, io) => {
  const target = readTarget(args);
  const { output } = target;
  return output === null
    ? makeReport(target, args, io)
    : intoFile(output, io, (io) => makeReport(target, args, io));
};

async function makeReport({ format, page, output }: ReportTarget, args: Args, io: Io): Promise<number> {
  const place = await placeOf(args, io);
  const question = await questionOf(args, place.accounts, io);
  if (page !== null) refusePersonal(question);
  const pictured = page !== null || format === 'table' ? layoutOf(question, true) : null;
  const data = format === 'table' ? [] : layoutOf(question, false).questions;
  const asked = await place.ask([...(pictured?.questions ?? []), ...data]);
  const { answers, incomplete, ends, isProved, status } = asked;
  const [main, last] = [answers[0], answers.at(-1)];
  if (main === undefined || last === undefined) return status;
  const now = io.clock.now();
  const shown = pictured && reportOf(pictured, main, answers, readUntil(main, now));
  for (const sentence of remarks(answers, shown === null)) say(io, sentence);
  if (page !== null && shown !== null) {
    const text = {
      title: args.text('title') ?? shown.title,
      head: headOf({ q: question.q, where: args.text('where') }, main, place.accounts, now),
      incomplete,
      facts: remarks(answers, false, saidToReaders).map(sentenceOf),
      counted: isProved ? [wholeText(main)] : ends.map(sentenceOf),
    };
    await saveLines(page, [reportPage(shown, text)], io);
    say(io, `wrote ${page}`);
  }
  if (format !== 'table') {
    const names = last.columns.map(({ name }) => name);
    await writeRows(io.stdout, format, last.rows, names);
  } else if (shown !== null) {
    const style = styleFor(io.stdout, io.env);
    // A reader of the file has not seen what was said when it was written.
    const head = output === null || incomplete.length === 0 ? [] : [...incomplete, ''];
    await show(io, [...head, ...reportLines(shown, { width: widthOf(io.stdout, io.env), style })]);
  }
  return status;
}

/** That all calls were counted, by the number that the page shows. */
const wholeText = ({ calls, compared }: Answer): string =>
  `Complete: ${plural(calls, 'call')}${compared === null ? '' : ', and all of the period compared with'}.`;

/** What a reader of the numbers should know. Which groups are not shown is said below a table. */
function remarks(answers: readonly Answer[], isData: boolean, extensionsOf = countedText): string[] {
  const [main] = answers;
  if (main === undefined) return [];
  const left = main.leftOut.filter(({ code }) => code !== 'extensions' && (isData || !shownBelow.has(code)));
  const said = [...left, ...answers.flatMap(({ notes }) => notes)];
  const sentences = [extensionsOf(main.extensions), ...said.map(({ message }) => message)];
  return [...new Set(sentences)].filter((sentence) => sentence !== '');
}

/** A shared page must not mention options. */
const saidToReaders = (extensions: Answer['extensions']): string => extensionsSentence(extensions, true);

const sentenceOf = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

/** What a report is written as. */
interface ReportTarget {
  readonly format: RowFormat;
  /** The file of the page; null without one. */
  readonly page: string | null;
  /** The file of the figures; null for stdout. */
  readonly output: string | null;
}

/** A page goes to the file of --output; figures next to it go to stdout. */
function readTarget(args: Args): ReportTarget {
  const { format, output } = targetOf(args, [...rowFormats, 'html']);
  const isPage = format === 'html' || /\.html?$/i.test(output ?? '');
  if (isPage && output === null) throw new UsageError('a page needs a file: --output report.html');
  const figures = format === 'html' ? 'table' : format;
  return isPage ? { format: figures, page: output, output: null } : { format: figures, page: null, output };
}

/** A page is made to be passed on. */
function refusePersonal(question: Question): void {
  const name = personalGroup(question);
  if (name === null) return;
  throw new UsageError(`the groups of ${name} are personal data, and a page is made to be passed on`, {
    hints: ['group by another field, or write a table'],
  });
}
