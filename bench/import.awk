# A day of `iostat -nmzxc 1` with 20 devices: 98 MB, 1.64 million lines.
#
#   awk -v samples=86400 -f bench/import.awk >iostat.txt
BEGIN {
    if (!samples) samples = 86400
    srand(7)
    for (s = 0; s < samples; s++) {
        print "     cpu"
        print " us sy wt id"
        u = int(rand() * 40); y = int(rand() * 20)
        printf "%3d%3d  0%3d\n", u, y, 100 - u - y
        print "                    extended device statistics              "
        print "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device"
        # As -z has it: devices without I/O have no line.
        for (d = 0; d < 20; d++) {
            if (rand() < 0.3) continue
            r = rand() * 300; w = rand() * 200; t = rand() * 20
            printf "%7.1f%7.1f%7.1f%7.1f%5.1f%5.1f%7.1f%7.1f%4d%4d c%dt%dd0\n", r, w,
                r * 16, w * 8, 0, (r + w) * t / 1000, 0, t, 0,
                (t * (r + w) / 10 > 100) ? 100 : t * (r + w) / 10, int(d / 10), d % 10
        }
    }
}
