/**
 * Whether a CUPS queue follows its printer to the end of a job, by the queue's `device-uri`.
 *
 * Only the `ipp` backend does: it asks the printer for the job's state until it has ended, and passes on how
 * many pages the printer has counted (`PAGE: total`). All others (`socket`, `usb`, `lpd`, `file`) end when
 * the device has taken the bytes. A queue of another print server is no printer, and with `waitjob=false` the
 * backend does not wait.
 *
 * That the backend has ended is no proof: it also completes a job whose printer was switched off in the
 * middle and has forgotten it, and one whose document the printer refused (CUPS 2.4.2, both tried). So the
 * page count is required too. On a queue with a driver the filters count as well, so there the count proves
 * nothing.
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
