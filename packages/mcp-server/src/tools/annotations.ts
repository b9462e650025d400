import { scrub } from '@call-attribution/core/record';
import { markInWords } from '@call-attribution/questions/chart';
import { quotable } from '../privacy/text.ts';
import type { ToolContext } from './tool.ts';

/** Most annotations of an answer: the latest. */
const most = 3;
/** As much as the configuration file allows. */
const longestText = 200;

/** What happened in a period, as the operator says, the latest first; numbers of people are hidden. */
export const annotationNotes = (
  period: Parameters<ToolContext['annotations']>[0],
  { annotations, source }: Pick<ToolContext, 'annotations' | 'source'>,
): string[] =>
  annotations(period)
    .slice(-most)
    .reverse()
    .map(({ date, text, account }) => {
      const said = markInWords({ date, text: scrub(quotable(text, longestText)) });
      return account === null || source.accounts.length < 2 ? said : `${said} (${account})`;
    });
