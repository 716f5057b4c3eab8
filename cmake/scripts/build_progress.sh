#!/bin/sh
# build_progress.sh LOG: copies what a build prints into LOG, and shows of it what fails, and every
# fifteen seconds how far the build is.
seconds_between=15
last=$(date +%s)
: > "$1"
while IFS= read -r line; do
    printf '%s\n' "$line" >> "$1"
    case $line in
        FAILED:*) printf '   %s\n' "$line" ;;
        "["*/*"] "*)
            now=$(date +%s)
            if [ $((now - last)) -ge "$seconds_between" ]; then
                printf '   %s\n' "$line"
                last=$now
            fi
            ;;
    esac
done
