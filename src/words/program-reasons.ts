/** Why a program in EPL2 or TSPL2 is not printed; part of the table of reasons. `{slot}`: a value. */
export const PROGRAM_REASONS = {
  'program-line': 'line {line}: {why}',
  'program-for-all':
    '{command} is for all that use the printer: {why}. Leave it out, or have an administrator allow the tenant printer commands',
  'program-unknown': '{command} is no command of {language} that draws a label',
  'program-at-once': '{command} acts at once, in the middle of other labels',
  'program-recalls': '{command} is about what is stored in the printer, which may be anybody’s',
  'program-other-label': '{command} prints something else than the label',
  'program-object': '{object} stores more than a picture or a font (BMP, PCX, TTF) in the printer',
  'program-uncleared':
    'the label is drawn over the one before it: begin it by clearing the picture (N in EPL2, CLS in TSPL2)',
  'program-quotes':
    'a text in quotation marks does not end, or beside the texts there is something else than words, numbers and commas',
  'program-counted': 'the content of a symbol is counted instead of standing in quotation marks',
  'program-control': 'the control character {code} stands outside of data',
  'program-cut-off': 'its data is cut off',
  'program-long': 'it has more than {most} characters',
  'program-commands-many': 'it has more than {most} lines',
  'program-labels-many': 'it has more than {most} labels',
  'program-downloads-many': 'more than {most} downloads',
  'program-no-label': 'it prints no label (P in EPL2, PRINT in TSPL2)',
  'program-data-large':
    'a command has {bytes} bytes of data, more than a label of this printer has dots for: {most} at most',
} as const;
