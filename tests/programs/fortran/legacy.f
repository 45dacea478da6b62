C     Fixed form: COMMON, EQUIVALENCE, ENTRY, computed GOTO, statement
C     functions, adjustable arrays, a procedure as an argument.
      SUBROUTINE INIT(N)
      INTEGER N, I
      REAL A(1000), TOTAL
      COMMON /DATA/ A, TOTAL
      DO 10 I = 1, N
        A(I) = REAL(MOD(I*37, 101)) / 7.0
   10 CONTINUE
      TOTAL = 0.0
      RETURN
      ENTRY CLEAR(N)
      DO 20 I = 1, N
        A(I) = 0.0
   20 CONTINUE
      END

      REAL FUNCTION APPLY(F, X, N)
      EXTERNAL F
      REAL F
      INTEGER N, I
      REAL X(N)
      APPLY = 0.0
      DO 30 I = 1, N
        APPLY = APPLY + F(X(I))
   30 CONTINUE
      END

      REAL FUNCTION SQUARE(X)
      REAL X
      SQUARE = X * X
      END

      REAL FUNCTION HALF(X)
      REAL X, HALVE
      HALVE(X) = X / 2.0
      HALF = HALVE(X)
      END

      INTEGER FUNCTION CHOOSE(K)
      INTEGER K
      GOTO (100, 200, 300) K
      CHOOSE = 0
      RETURN
  100 CHOOSE = 11
      RETURN
  200 CHOOSE = 22
      RETURN
  300 CHOOSE = 33
      END

      SUBROUTINE WORK(S, K)
      EXTERNAL SQUARE, HALF
      REAL SQUARE, HALF, APPLY, S
      INTEGER CHOOSE, I, K
      REAL A(1000), TOTAL
      COMMON /DATA/ A, TOTAL
      K = 0
      S = 0.0
      DO 40 I = 1, 100
        CALL INIT(1000)
        TOTAL = TOTAL + APPLY(SQUARE, A, 1000) - APPLY(HALF, A, 1000)
        K = K + CHOOSE(MOD(I, 5))
        S = S + TOTAL / 1000.0
        CALL CLEAR(1000)
   40 CONTINUE
      END

      PROGRAM LEGACY
      REAL S, R, FIRST
      INTEGER K, BITS, BEGAN, NOW, RATE
      EQUIVALENCE (R, BITS)
      CALL SYSTEM_CLOCK(BEGAN, RATE)
      CALL WORK(FIRST, K)
C     The same again for about 60 epochs of 1 ms.
   50 CALL WORK(S, K)
      IF (S .NE. FIRST) STOP 1
      CALL SYSTEM_CLOCK(NOW)
      IF (NOW - BEGAN .LT. RATE / 1000 * 60) GOTO 50
      R = S
      WRITE (*, '(F16.4, I10, I12)') S, K, BITS
      END
