/** What a service's thread and its check threads say to each other; both ends are this repository. */
import type { JobFault, JobFaultCode } from '../contract/fault.ts';
import type { LanguageId } from '../contract/format.ts';
import type { ElementBox } from '../contract/label-picture.ts';
import type { LabelRecord, Orientation } from '../contract/print-request.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { Reason } from '../contract/reason.ts';
import type { LabelSheet } from '../contract/sheet.ts';
import type { Template } from '../contract/template.ts';
import type { TemplateProblem } from '../contract/template-problem.ts';
import type { Rotation } from '../render/image/bitmap.ts';
import type { JobFacts } from '../values/built-ins.ts';
import type { RawMedia, RawPlacementFault } from '../zpl/raw/placement.ts';

/** A check of a whole template. */
interface TemplateCheck {
  readonly kind: 'template';
  readonly template: Template;
  /** The tenant's raw templates may set printers up. */
  readonly printerCommands?: boolean;
}

/** Would these records print? A check has only some of a job's records, so that a large job takes turns with others. */
export interface RecordsCheck {
  readonly kind: 'records';
  readonly template: Template;
  readonly dpi: number;
  /** The language that the printer gets. A document in this language is printed as it was sent. */
  readonly language: LanguageId;
  readonly orientation: Orientation;
  /** The size of a document's label, mm, in case its template does not say it. */
  readonly media: { readonly width: number; readonly height: number };
  readonly job: JobFacts;
  readonly records: readonly LabelRecord[];
  /** The number in the job of the first of these records, from 0. */
  readonly first: number;
  /** ms of work that may be spent. Records that are not reached by then are not checked. */
  readonly budget: number;
}

/** Does a raw ZPL template print only inside its label? */
export interface PlacementCheck {
  readonly kind: 'placement';
  readonly template: Extract<Template, { language: 'zpl' }>;
  readonly media: RawMedia;
}

/** One label as a picture. */
export interface PictureCheck {
  readonly kind: 'picture';
  readonly template: Template;
  readonly dpi: number;
  /** The label's size, mm, for a template that does not say it. */
  readonly media: { readonly width: number; readonly height: number };
  readonly orientation: Orientation;
  readonly job: JobFacts;
  readonly record: LabelRecord;
  /** Indexes from 0: of the record in its job, and of the label among the record's labels. */
  readonly index: number;
  readonly copy: number;
  /** The picture's width, pixels; if left out, one for each dot. */
  readonly width?: number | undefined;
  /** Draws what can be drawn, and says where everything is and what cannot be drawn. Otherwise a fault ends the check. */
  readonly preview: boolean;
}

export interface PictureResult {
  /** null: nothing can be drawn. */
  readonly png: Uint8Array | null;
  /** The label's size, dots. */
  readonly width: number;
  readonly height: number;
  readonly problems: readonly TemplateProblem[];
  readonly boxes: readonly ElementBox[];
}

/** Which pages does a PDF have, or which labels does a program have? */
export interface PagesCheck {
  readonly kind: 'pages';
  /** base64. */
  readonly document: string;
  /** The type that the document's record says it has. */
  readonly said?: string | undefined;
  /** The tenant may set printers up. */
  readonly printerCommands: boolean;
}

/** One label of a job as a printer of the job's format would get it. */
export interface BytesCheck {
  readonly kind: 'bytes';
  readonly job: QueuedJob;
  /** The index of the label's record. */
  readonly record: number;
}

/** The labels of somebody's ZPL, which no printer gets. */
export interface ZplCheck {
  readonly kind: 'zpl';
  readonly zpl: Uint8Array;
  readonly dpi: number;
  /** The media, mm. */
  readonly width: number;
  readonly height: number;
  /** Turns each label clockwise. */
  readonly turn: Rotation;
  /** `json`: where its fields are, dots, and what they say. */
  readonly as: 'png' | 'pdf' | 'json';
  /** Which label, from 0; undefined: all, except that a PNG has one. */
  readonly label: number | undefined;
  /** The most labels that the ZPL may have. */
  readonly most: number;
  /** Where the turned labels lie on the pages of a PDF; undefined: each label is a page. */
  readonly page: LabelSheet | undefined;
  /** The border around each label on such a page. */
  readonly border: 'none' | 'solid' | 'dashed';
}

export interface ZplResult {
  /** undefined: the ZPL does not have the label, or has more labels than it may. */
  readonly file: Uint8Array | undefined;
  /** How many labels the ZPL has, at most one more than it may. */
  readonly labels: number;
}

export type Check =
  | TemplateCheck
  | RecordsCheck
  | PlacementCheck
  | PictureCheck
  | PagesCheck
  | BytesCheck
  | ZplCheck;

/** What cannot be printed; without `record`, the template itself cannot be printed in this format. */
export interface Unprintable {
  readonly code: JobFaultCode;
  readonly message: string;
  readonly record?: number;
  /** The fields that the element prints, or only the one at fault if that is known. */
  readonly fields: readonly string[];
  readonly reason?: Reason;
}

export interface RecordsVerdict {
  readonly faults: readonly Unprintable[];
  /** ms that the thread worked, and whether all records were reached. */
  readonly spent: number;
  readonly complete: boolean;
}

/** What a check of each kind says. */
export interface CheckSays {
  /** What is wrong with the template. */
  readonly template: readonly TemplateProblem[];
  /** Which records cannot be printed. */
  readonly records: RecordsVerdict;
  /** What the template prints outside its label. */
  readonly placement: readonly RawPlacementFault[];
  readonly picture: PictureResult | JobFault;
  /** How often each page or label is printed, or why the document cannot be read. */
  readonly pages: readonly number[] | Reason;
  /** The label in its language, or why it cannot be printed. */
  readonly bytes: Uint8Array | JobFault;
  /** The labels, or why one cannot be drawn. */
  readonly zpl: ZplResult | JobFault;
}
type Results = { readonly [K in Check['kind']]: { readonly kind: K; readonly says: CheckSays[K] } };
export type CheckResult<K extends Check['kind'] = Check['kind']> = Results[K];

/** `owner`: whose check this is. A thread keeps files decoded for each owner, and no other owner's checks use them. */
export type CheckRequest = { readonly id: number; readonly owner: string; readonly check: Check };
export type CheckAnswer =
  /** True: all that the thread needs for its check is loaded. False: the thread begins to load more. */
  | { readonly loaded: boolean }
  /** Not an answer yet: the check has come to this place of the template, a JSON pointer. */
  | { readonly id: number; readonly at: string }
  | { readonly id: number; readonly result: CheckResult }
  /** The check broke. Only the error's name and place are told, because its text may quote label data. */
  | { readonly id: number; readonly broke: string; readonly frames: readonly string[] };
