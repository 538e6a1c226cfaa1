/** Words of jobs and of deciding about them. */
import type { JobReason } from '../../../src/contract/job.ts';
import type { ResumePlan } from '../../../src/contract/job-actions.ts';
import type { JobStatus } from '../../../src/contract/job-life.ts';
import { jobs, labels, verb } from './counted.ts';

export const jobWords = {
  status: {
    queued: 'Waiting',
    printing: 'Printing',
    printed: 'Printed',
    failed: 'Failed',
    canceled: 'Canceled',
    held: 'To decide',
  } satisfies Record<JobStatus, string>,
  reason: {
    offline: 'not reached',
    'media-empty': 'out of labels',
    'media-jam': 'jam',
    'media-low': 'few labels left',
    'marker-supply-empty': 'out of ribbon or ink',
    'cover-open': 'cover open',
    paused: 'paused at the printer',
    'spool-area-full': 'its memory is full',
    'connecting-to-device': 'connecting',
    'output-area-full': 'its tray is full',
    'label-waiting': 'a label waits to be taken',
    'label-unfinished': 'holds part of a label that somebody else sends',
    busy: 'prints something else',
    'certificate-unknown': 'shows another certificate',
    'found-elsewhere': 'answers at another address',
    'printer-gone': 'no agent has it any more',
    'agent-offline': 'its agent does not answer',
    'agent-disk': 'its agent waits for its disk',
    other: 'needs somebody to look',
    'printer-held': 'the printer is on hold',
    'cancel-requested': 'is being stopped',
  } satisfies Record<JobReason, string>,
  jobs: {
    title: 'Jobs',
    all: 'All',
    underWay: 'Under way',
    value: 'A whole value on the label',
    valueWrong: 'A value has 3 to 200 characters.',
    valueKept: 'With a value that was searched for',
    search: 'Beginning of an ID',
    searchWrong: 'An ID has 0–9, a–f and hyphens.',
    filters: (n: number) => (n === 0 ? 'Filters' : `Filters (${n})`),
    anyPrinter: 'Any printer',
    anyTemplate: 'Any template',
    anyTime: 'Any time',
    today: 'Today',
    hour: 'Last hour',
    day: 'Last 24 hours',
    week: 'Last 7 days',
    between: 'From … until …',
    from: 'Accepted from',
    until: 'Accepted before',
    account: 'Sent by',
    anyAccount: 'Any sender',
    tests: 'Tests',
    anyTests: 'With tests',
    onlyTests: 'Tests only',
    noTests: 'Without tests',
    job: 'Job',
    status: 'State',
    template: 'Template',
    printer: 'Printer',
    labelsOut: 'Labels out',
    accepted: 'Accepted',
    of: (printed: number, total: number) => `${printed} of ${total}`,
    empty: 'No job yet',
    emptyHint: 'Jobs come from your systems over HTTP, or from the page Print.',
    noneFits: 'No job fits these filters',
    clear: 'Clear the filters',
    pick: 'Choose',
    pickAll: 'Choose all that are shown',
    picked: (n: number) => `${jobs(n)} chosen`,
    bulk: {
      cancel: {
        open: 'Cancel …',
        title: 'Cancel these jobs?',
        action: 'Cancel the jobs',
        says: (n: number, count: number) =>
          `${jobs(n)}, not out yet: ${labels(count)}. That will not be printed.`,
      },
      retry: {
        open: 'Print on …',
        title: 'Print these jobs on?',
        action: 'Print on',
        says: (n: number, count: number) =>
          `${jobs(n)} ${verb(n, 'goes', 'go')} on: ${labels(count)} will be printed.`,
      },
      release: {
        open: 'Decide …',
        title: 'Decide about these jobs',
        action: 'Print on',
        says: (n: number, count: number) =>
          `${jobs(n)} ${verb(n, 'goes', 'go')} on: ${labels(count)} will be printed.`,
      },
      move: {
        open: 'Move …',
        title: 'Move these jobs to another printer',
        action: 'Move',
        says: (n: number, count: number) =>
          `${jobs(n)}, not out yet: ${labels(count)}. That will be printed there, and not here.`,
      },
    },
    moveAll: 'Move all …',
    moveAllTitle: (printer: string) => `Move all that waits for ${printer}`,
    moveAllNone: 'Nothing waits for it any more.',
    misfits: (n: number, of: number, media: string) =>
      `${n === of ? 'The' : `For ${n} of ${of} the`} labels do not fit: this printer has ${media}.`,
    uncertain: 'The uncertain labels of each',
    uncertainSkip: 'are all there: they are not printed again',
    uncertainPrint: 'are not there: they are printed again',
    bulkNone: 'None of them can be, as they are now.',
    bulkRefused: (n: number) => `${jobs(n)} ${verb(n, 'stays as it is', 'stay as they are')}:`,
    bulkDone: (n: number, asked: number) =>
      `Done for ${jobs(n)}.${asked === 0 ? '' : ` ${asked} of them ${verb(asked, 'is', 'are')} being stopped.`}`,
    bulkMoved: (n: number, count: number, asked: number, printer: string) =>
      asked === 0
        ? `${jobs(n)} moved to ${printer}: ${labels(count)}.`
        : `${jobs(n)} on the way to ${printer}; ${asked} ${verb(asked, 'is', 'are')} being stopped first.`,
  },
  job: {
    title: (template: string) => template,
    number: (id: string) => `Job ${id}`,
    life: 'What happened',
    labels: 'Labels',
    values: 'Values',
    facts: 'Facts',
    next: 'What happens next',
    before: (n: number) => `${jobs(n)} ${verb(n, 'is', 'are')} before it`,
    manyBefore: (n: number) => `${n} jobs or more are before it`,
    notItsTurn: 'not its turn yet',
    nextQueued: 'It waits for its turn at the printer, and then prints by itself.',
    nextPrinting: 'Its agent prints it. Nobody has to do anything.',
    nextWaits: 'Once that is mended at the printer, it goes on by itself.',
    folded: (n: number) => `… show ${n} more waits`,
    nextStopping: (inPrinter: number) =>
      `Stopping${inPrinter === 0 ? '' : `: ${labels(inPrinter)} ${verb(inPrinter, 'is', 'are')} still in the printer`}. Its agent says what came out; if the printer does not answer, that takes a moment.`,
    nextMoving: (printer: string) =>
      `It is being stopped at the end of a label. What is not out by then is printed on ${printer}, as a job of its own.`,
    nextLeft: (printer: string) => `It has stopped. What is not out goes to ${printer} now.`,
    moveRefused: (printer: string, why: string) =>
      `What is left could not go to ${printer}: ${why}. Print it again where it fits.`,
    nextHold: (who: string) => `${who} holds the printer. It goes on once the printer is resumed.`,
    nextPrinted: 'Every label is out. Nothing more happens.',
    nextFailed: 'The labels that follow are certain not to be out. Mend the cause, then have it print on.',
    nextHeld: 'Labels may or may not be out. Somebody has to look at the printer and decide.',
    nextCanceled: 'Nothing more of it will be printed.',
    nextMoved: (printer: string) =>
      `It has stopped here. Its rest, the labels that are certain not to be out, is printed at ${printer}, as a job of its own.`,
    isRest: (printer: string) => `It is the rest of a job that was moved here from ${printer}.`,
    isRestOfGone: 'It is the rest of a job that was moved here from another printer.',
    decide: 'Decide',
    cancel: 'Cancel …',
    cancelTitle: 'Cancel this job?',
    cancelSays: (out: number, left: number) =>
      `${out} out; ${labels(left)} will not be printed. A job that is canceled does not come back.`,
    mayCome: (n: number) =>
      `${labels(n)} ${verb(n, 'was', 'were')} sent to the printer already, and may still come out.`,
    cancelPrinting:
      'Its agent stops at the end of a label. What nobody can know of then waits under To decide. What is left can be printed at another printer then: Print again.',
    out: (n: number) => `${n} out`,
    doubt: (n: number) => `${n} uncertain`,
    notOut: (n: number) => `${n} not`,
    movedTo: (n: number, printer: string) => `${n} moved to ${printer}`,
    waitsForPrinter: 'Waiting for the printer',
    stopped: (template: string, printer: string) => `${template} has stopped at ${printer}:`,
    tooLate: (template: string) => `Every label of ${template} was out before it could be stopped.`,
    cancelSubmit: 'Cancel the job',
    cancelKeep: 'Keep the job',
    force: 'Cancel although no agent answers: labels that are under way become uncertain',
    retry: 'Print on',
    retryTitle: 'Print the rest?',
    retrySays: (from: number, left: number) =>
      `It goes on with label ${from}: ${labels(left)} will be printed.`,
    move: 'Move …',
    moveTitle: 'Move to another printer',
    moveSays: (left: number) => `Not out yet: ${labels(left)}. That will be printed there, and not here.`,
    moveStops: (left: number, lost: boolean) =>
      `The job stops here at the end of a label. What is certain not to be out is then printed there, as a job of its own: ${left === 0 && lost ? 'nothing, as it stands' : `${lost ? '' : 'at least '}${labels(left)}`}.`,
    moveWay: (n: number, lost: boolean) =>
      lost
        ? `${labels(n)} ${verb(n, 'was', 'were')} sent, and nobody knows whether ${verb(n, 'it is', 'they are')} out: look first. ${verb(n, 'It does', 'They do')} not move, but ${verb(n, 'waits', 'wait')} under To decide.`
        : `${labels(n)} ${verb(n, 'was', 'were')} sent, and nobody knows yet whether ${verb(n, 'it is', 'they are')} out. What is still uncertain when the job has stopped does not move, but waits under To decide.`,
    moveNoAgent: 'Its agent does not answer: the job is stopped, and moved, once the agent is back.',
    moveFrom: (from: number, to: number, last: number) =>
      `Labels ${from} to ${to} may be out: look, and say with which it goes on.${last > to ? ` ${last}: all of them are there.` : ''}`,
    moveTo: 'To printer',
    otherMedia: (media: string) => `other media: ${media}`,
    targetMisfit: (printer: string, media: string) => `The labels do not fit ${printer}, which has ${media}.`,
    targetStill: (printer: string, why: string) =>
      `Nothing comes out of ${printer} now (${why}). What goes there waits.`,
    moveNone: 'There is no other printer.',
    reprint: 'Print again …',
    reprintTitle: 'Print labels again',
    reprintSays: 'A new job prints them. It names this one, and counts against the quota.',
    reprintWhich: 'Which labels',
    reprintHint: (total: number) => `Of 1 to ${total}, such as 3, 7-9. Empty is none.`,
    chooseAll: (total: number) => `Choose all ${total}`,
    labelsBefore: 'Labels before',
    reprintWrong: (total: number) => `Expected numbers from 1 to ${total}, such as 3, 7-9.`,
    reprinted: 'The new job is on its way.',
    open: 'Open it',
    openPage: 'Open',
    canceled: 'The job is canceled:',
    asked: 'The job is being stopped.',
    goesOn: 'The job goes on.',
    stops: (printer: string) =>
      `The job is being stopped at ${printer}; what is certain not to be out moves then.`,
    moved: (n: number, printer: string) => `Moved to ${printer}: ${labels(n)}.`,
    maybeOut: (from: number, to: number) =>
      from === to
        ? `Label ${from} may be out or not: look at the printer.`
        : `Labels ${from} to ${to} may be out or not: look at the printer.`,
    noData:
      'The values of this job are not kept any more: they are dropped once it is printed or canceled, after the time that the workspace keeps them.',
    noSight: 'Your role does not see what is on labels.',
    noPicture: 'No picture',
    picture: (n: number) => `Label ${n}`,
    labelOf: (n: number, total: number) => `Label ${n} of ${total}`,
    record: 'Record',
    copies: 'Copies',
    format: 'Format',
    orientation: 'Orientation',
    portrait: 'Portrait',
    landscape: 'Landscape',
    account: 'Sent by',
    sender: 'Name given',
    restOf: 'Rest of',
    rests: 'Its rest is printed by',
    reprintOf: 'Prints again',
    reprints: 'Printed again by',
    since: (time: string) => `since ${time}`,
    moreLabels: 'Show more labels',
    everyDot: 'A click on a label shows every dot, as the printer gets it.',
    valuesOf: (from: number, to: number, total: number) => `Records ${from} to ${to} of ${total}`,
  },
  event: {
    accepted: (who: string | null) => (who === null ? 'Accepted' : `Accepted from ${who}`),
    queued: (who: string | null) => (who === null ? 'Waits for its turn' : `${who} had it go on`),
    printing: 'An agent began to print it',
    printingWaits: (reasons: string) => `An agent began to print it, and waited: ${reasons}`,
    waits: (reasons: string) => `Waited: ${reasons}`,
    goesOn: 'Went on',
    printed: (who: string | null) =>
      who === null ? 'Every label is out' : `${who} said that every label is out`,
    failed: 'Failed',
    held: 'Held: somebody has to decide',
    canceled: (who: string | null) => (who === null ? 'Canceled' : `Canceled by ${who}`),
    decided: (who: string | null) =>
      who === null ? 'It was said which labels are out' : `${who} said which labels are out`,
    'cancel-requested': (who: string | null) => (who === null ? 'Asked to stop' : `${who} asked it to stop`),
    moved: (who: string | null, printer: string) =>
      who === null ? `Moved to ${printer}` : `${who} moved it to ${printer}`,
    progress: (sent: number, printed: number) => `sent ${sent}, out ${printed}`,
  },
  held: {
    title: 'To decide',
    empty: 'Nothing to decide',
    emptyHint:
      'Platen never prints a label twice by guess. When it cannot know whether labels came out, the job waits here for somebody who looks.',
    which: (from: number, to: number) =>
      from === to ? `Is label ${from} out?` : `Which of labels ${from} to ${to} are out?`,
    look: 'Go to the printer and look for these labels. What is uncertain has a mark; beside it are the last that is out and the first that is not.',
    certain: 'is out',
    doubt: 'uncertain',
    notSent: 'not sent',
    there: 'They are all there',
    thereSays: ({ status, prints }: ResumePlan) =>
      status === 'printed'
        ? 'Nothing more is printed: the job is done.'
        : prints.to - prints.from === 1
          ? 'The next label will be printed.'
          : `The next ${labels(prints.to - prints.from)} will be printed.`,
    notThere: 'None of them is there',
    notThereSays: ({ prints: { from, to } }: ResumePlan) =>
      `It prints on from label ${from + 1}: ${labels(to - from)} in all.`,
    fromHere: 'Some of them are there',
    first: 'The first that is missing',
    choose: 'Print on',
    done: 'Mark as done',
    cancelRest: 'Or, with the rest of the job',
    stopped: 'It was stopped: nothing more of it is printed here. Say which labels are out.',
    missing: (n: number) =>
      n === 0
        ? 'Nothing is missing. Nothing is printed.'
        : `${labels(n)} ${verb(n, 'is', 'are')} missing. Nothing is printed by itself: “Print again” on the job’s page prints what is missing.`,
    note: 'That is so',
    noted: (n: number) =>
      n === 0
        ? 'Noted: they are all out.'
        : `Noted: ${labels(n)} missing. “Print again” prints ${verb(n, 'it', 'them')}.`,
    decided: 'Decided. The job goes on.',
    decidedDone: 'Decided. The job is done.',
    more: (n: number) => `… show ${n} more between them`,
    clickFirst: 'Click the first that is missing.',
    all: 'All that wait',
    at: (printer: string) => `at ${printer}`,
  },
};
