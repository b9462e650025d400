import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';

const deliveryErrors = codeTable({
  busy: {
    ledger_in_use: 'Another process has the ledger. Run again when that process has ended.',
  },
  usage: {
    in_the_way:
      'There is a file under the name of the sheet already, which may not have been uploaded. Upload it, or rename it.',
    retracts_much:
      'The run would take back more than 20 and more than 5 % of the conversions that were uploaded. Check the rules and the time zone; if it is right, allow it.',
    unfinished:
      'The ledger has an unfinished delivery, and its files are not here, or it goes to the same destination. Finish it where its files are, or abandon it.',
  },
  data: {
    ledger_damaged:
      'The ledger was changed or damaged, or its file is a link, a pipe or that of another user. Restore it from a copy: without it, conversions would be uploaded twice.',
  },
});

/** A sheet cannot be put in its place, or the ledger is in use or damaged. */
export class DeliveryError extends CallsError<keyof typeof deliveryErrors> {
  static override readonly codes: CodeTable = deliveryErrors;
  static {
    nameErrors(DeliveryError, 'DeliveryError');
  }
}

/** The error for a ledger that is damaged at a place, such as `line 3 of uploads.ledger`. */
export const damagedAt = (where: string): DeliveryError =>
  new DeliveryError(
    'ledger_damaged',
    `The ledger is damaged at ${where}. Restore it from a copy: without it, conversions would be uploaded twice.`,
  );

/** The error for a ledger that somebody else may have put there. */
export const strange = (what: string): DeliveryError =>
  new DeliveryError(
    'ledger_damaged',
    `${what}. Nothing was read or written: name a ledger of your own.`,
  );

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `DeliveryError` of conversions. */
    DeliveryError: DeliveryError;
  }
}
