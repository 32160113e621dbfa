/** Words of the most common passwords, in English and Indonesian, in lower case and of at least 3 letters. */
export const COMMON_WORDS: readonly string[] = `
  password passwort passw0rd passcode secret master admin administrator root user login letmein welcome hello changeme
  default guest test testing system server database manager office company google facebook instagram whatsapp tiktok
  youtube samsung android iphone apple windows microsoft computer internet monkey dragon tiger lion eagle shadow
  sunshine princess superman batman spiderman pokemon naruto football soccer baseball liverpool arsenal chelsea
  manchester barcelona madrid juventus summer winter spring autumn monday friday sunday january february march april
  june july august september october november december freedom forever family friend lover love loveyou iloveyou
  iloveu baby angel jesus christ god lord michael jordan daniel charlie jessica ashley trustno1 whatever starwars
  kata sandi katasandi rahasia masuk akun pengguna selamat datang selamatdatang pagi siang malam halo hai aku kamu
  saya cinta sayang sayangku cintaku akucinta akusayang kasih rindu jodoh mama papa ibu bapak ayah bunda anak istri
  suami keluarga sahabat teman bismillah alhamdulillah assalamualaikum insyaallah subhanallah allah allahuakbar
  muhammad islam kristus tuhan yesus amin indonesia merdeka garuda pancasila nusantara bhinneka jakarta bandung
  surabaya semarang yogyakarta jogja medan makassar palembang denpasar bali lombok bogor bekasi depok tangerang
  malang solo padang aceh batam banten jawa sumatra kalimantan sulawesi papua persib persija arema bonek agus budi
  dewi siti putri putra sri wati rini nur ahmad yusuf rizky eka dwi tri toko warung usaha bisnis dagang jualan kasir
  pemilik pelanggan uang rupiah duit bayar pembayaran dompet bank rekening saldo transfer sukses berkah rejeki rezeki
  maju jaya makmur sejahtera kopi teh nasi bakso soto qris gopay shopee shopeepay dana ovo midtrans dashboard
  merchant shop store payment money cash business lunas
`
  .trim()
  .split(/\s+/);

/** Rows of keys and series of letters and digits; each is typed backwards, too. */
export const KEY_ROWS: readonly string[] = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik',
  '!@#$%^&*()',
].flatMap((row) => [row, Array.from(row).toReversed().join('')]);
