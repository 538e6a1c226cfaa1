/** The file in a form (RFC 7578). */
import { wrong } from './wrong.ts';

/** Parts of a form: each costs the thread that serves others more than its bytes. */
const MOST_PARTS = 20;

/** The part `file`. @param type the form's Content-Type. @throws DoorError 400 */
export async function formFile(body: Buffer, type: string): Promise<Uint8Array> {
  const boundary = /boundary="?([^\s";]{1,200})/i.exec(type)?.[1];
  if (boundary === undefined) throw wrong('the form', 'a boundary in Content-Type');
  let parts = 0;
  for (let at = body.indexOf(boundary); at >= 0; at = body.indexOf(boundary, at + boundary.length)) {
    parts += 1;
    if (parts > MOST_PARTS) throw wrong('the form', `at most ${MOST_PARTS} parts`);
  }
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => {
      throw wrong('the form', 'multipart/form-data as RFC 7578 has it');
    });
  const file = form.get('file');
  if (file === null) throw wrong('the form', 'a part "file"');
  return typeof file === 'string' ? Buffer.from(file) : new Uint8Array(await file.arrayBuffer());
}
