/**
 * Whether a CUPS queue follows its printer to the end of a job, by the queue's `device-uri`.
 *
 * Only the `ipp` backend does: it asks the printer for the job's state until it has ended, and passes on how many
 * pages the printer has counted (`PAGE: total`). All others (`socket`, `usb`, `lpd`, `file`) end when the device has
 * taken the bytes. A queue of another print server is no printer, and `waitjob=false` ends the waiting.
 *
 * The backend's end is no proof: it calls a job completed whose printer was switched off in the middle and has
 * forgotten it, and one whose document the printer refused (CUPS 2.4.2, both tried). Therefore the count has to be
 * there too. On a queue with a driver the filters count as well, so there it proves nothing.
 * Source: CUPS backend/ipp.c (`waitjob`, "Wait for the job to complete"), backend/dnssd.c (`/cups`).
 */
export function followsItsPrinter(deviceUri: string | undefined): boolean {
  if (deviceUri === undefined || !URL.canParse(deviceUri)) return false;
  const { protocol, hostname, pathname, searchParams } = new URL(deviceUri);
  const [, wait = 'true'] = [...searchParams].find(([name]) => name.toLowerCase() === 'waitjob') ?? [];
  if (!['true', 'yes', 'on'].includes(wait.toLowerCase())) return false;
  if (protocol === 'dnssd:') return /\._ipps?\._tcp\b/i.test(hostname) && !pathname.startsWith('/cups');
  return ['ipp:', 'ipps:'].includes(protocol) && !/^\/(printers|classes)\//.test(pathname);
}
