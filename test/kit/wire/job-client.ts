/** Our IPP client with what an agent does without: a job and its document in one request, and a look at a job. */
import { IppClient } from '../../../drivers/ipp/client.ts';
import type { IppDocument } from '../../../drivers/ipp/http.ts';
import { groupOf, type IppAttribute, numbersOf, stringsOf } from '../../../drivers/ipp/message.ts';
import { type IppJobState, JOB_STATES } from '../../../drivers/ipp/names.ts';

export interface IppJob {
  /** NaN: the answer had none. */
  jobId: number;
  state: IppJobState | null;
  reasons: string[];
}

export interface WholeJob {
  name?: string;
  /** MIME type. */
  format: string;
  /** Job template attributes: `copies`, `media-col`, …. */
  attributes?: IppAttribute[];
}

export class JobClient extends IppClient {
  async printJob(
    { name, format, attributes }: WholeJob,
    document: IppDocument,
    signal: AbortSignal,
  ): Promise<IppJob> {
    const operation: IppAttribute[] = [
      ...(name === undefined ? [] : [{ name: 'job-name', values: [{ tag: 'name' as const, value: name }] }]),
      { name: 'document-format', values: [{ tag: 'mimeMediaType', value: format }] },
    ];
    const answer = await this.request('Print-Job', operation, signal, attributes, document);
    return jobOf(groupOf(answer, 'job')?.attributes ?? []);
  }

  async getJob(jobId: number, signal: AbortSignal): Promise<IppJob> {
    return jobOf(await this.getJobAttributes(jobId, signal, ['job-id', 'job-state', 'job-state-reasons']));
  }
}

function jobOf(attributes: readonly IppAttribute[]): IppJob {
  return {
    jobId: numbersOf(attributes, 'job-id')[0] ?? Number.NaN,
    state: JOB_STATES.get(numbersOf(attributes, 'job-state')[0] ?? 0) ?? null,
    reasons: stringsOf(attributes, 'job-state-reasons'),
  };
}
